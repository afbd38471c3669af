"""Normal laws: numbers by hand, energy as the integral of the force, sharp limits."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from mbjax.contact.normal import elastic
from mbjax.law import Points

COMPLIANCE = 2 * (1 - 0.3**2) / (np.pi * 207e9)
ELASTIC = [
    elastic.Linear(1e6),
    elastic.Hertz(6.6e10),
    elastic.Pereira(0.5e-3, 0.02, 1.1e11),
    elastic.Pereira(0.02e-3, 0.02, 1.1e11),
    elastic.Pereira(0.02, 0.02, 1.1e11, internal=False),
    elastic.DubowskyFreudenstein(0.010, 0.0095, 0.015, COMPLIANCE),
    elastic.Esdu78035(0.010, 0.0095, 0.015, COMPLIANCE),
    elastic.Tabulated([0, 1e-6, 1e-5], [0, 5.0, 200.0]),
]


@pytest.mark.parametrize("law", ELASTIC, ids=lambda x: type(x).__name__)
def test_elastic_energy_is_the_integral_of_the_force(law):
    for depth in (3e-7, 2e-6, 9e-6):
        force = jax.jit(lambda d: law.force(d))
        nodes, weights = np.polynomial.legendre.leggauss(60)
        edges = sorted({0.0, min(depth, 1e-6), depth})
        area = sum(
            0.5
            * (b - a)
            * weights
            @ np.array([float(force(jnp.array(0.5 * (a + b) + 0.5 * (b - a) * x))) for x in nodes])
            for a, b in itertools.pairwise(edges)
        )
        np.testing.assert_allclose(law.energy(jnp.array(depth)), area, rtol=2e-6)
    assert law.force(jnp.zeros(())) == 0


def test_implicit_cylinder_laws_fulfil_their_equations():
    length, gap, r1, r2 = 0.015, 0.5e-3, 0.010, 0.0095
    for law, top in (
        (elastic.DubowskyFreudenstein(r1, r2, length, COMPLIANCE), length**3 * gap / (r1 * r2 * COMPLIANCE)),
        (elastic.Esdu78035(r1, r2, length, COMPLIANCE), 4 * length * gap / COMPLIANCE),
    ):
        depth = jnp.array([1e-8, 1e-7, 1e-6, 1e-5])
        force = law.force(depth)
        back = force * COMPLIANCE / length * (jnp.log(top / force) + 1)
        np.testing.assert_allclose(back, depth, rtol=1e-13)
        slope = jax.vmap(jax.grad(law.force))(depth)
        np.testing.assert_allclose(slope, length / COMPLIANCE / jnp.log(top / force), rtol=1e-10)


def test_pereira_by_hand():
    """P1 44-48 at DR 0.5 mm, L 20 mm, E* 113736 N/mm^2, d 1 um = 1e-3 mm."""
    y = 0.0151 * 0.5 + 1.151
    n = y * 0.5**-0.005
    force = (0.965 * 0.5 + 0.0965) * 20 * 113736 / 0.5 * 1e-3**n
    law = elastic.Pereira(0.5e-3, 0.02, 113736e6)
    np.testing.assert_allclose(law.force(jnp.array(1e-6)), force, rtol=1e-12)
    with pytest.raises(ValueError, match=r"0\.005 to 10 mm"):
        elastic.Pereira(1e-6, 0.02, 1e11)


def test_smoothing_has_the_sharp_law_as_its_limit():
    depth = jnp.array([1e-7, 1e-6, 1e-5])
    memory = Points(jnp.ones((1, 3), int), jnp.ones((1, 3)), *[jnp.zeros((1, 3))] * 3)

    def force(length):
        return mb.Impact(mb.Hertz(1e10), mb.Flores(0.8), smoothing=length).press(depth, jnp.zeros(3), memory).force

    errors = [float(jnp.abs(force(s) / force(0.0) - 1).max()) for s in (1e-7, 1e-8, 1e-9)]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-2


def test_rounded_damped_layer_does_not_jump_at_touch():
    memory = Points(jnp.ones((1, 2), int), jnp.ones((1, 2)), *[jnp.zeros((1, 2))] * 3)
    depth = jnp.array([-1e-12, 1e-3])  # the sharp damper acts up to the switch, a rounding error outside too

    def force(smoothing):
        return mb.DampedLayer(elastic.Linear(1e6), 1e3, smoothing).press(depth, jnp.ones(2), memory).force

    np.testing.assert_allclose(force(0.0), [1000, 2000])
    np.testing.assert_allclose(force(1e-6), [0.0, 2000 - 0.5], atol=1e-6)
