"""Friction laws: the papers' curves, bristles, rounded corners, finite derivatives everywhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb

V = 1e-3
FRICTION = {
    "Coulomb": (mb.Coulomb(0.2, V), lambda v: 0.2 * np.tanh(v / V)),
    "Threlfall": (mb.Threlfall(0.2, V), lambda v: 0.2 * np.tanh(v / V)),
    "Ambrosio": (mb.Ambrosio(0.2, 1e-4, V), lambda v: 0.2 * np.clip((v - 1e-4) / 9e-4, 0, 1)),
    "Stribeck": (
        mb.Stribeck(0.1, 0.2, V, 3.0, V),
        lambda v: (0.1 + 0.1 * np.exp(-((v / V) ** 2))) * np.tanh(v / V) + 3.0 * v / 50,
    ),
    "PiecewiseLinear": (
        mb.PiecewiseLinear(0.1, 0.15, 1e-4, V),
        lambda v: np.interp(v, [0, 1e-4, V, 1], [0, 0.15, 0.1, 0.1]),
    ),
    "BengisuAkay": (
        mb.BengisuAkay(0.1, 0.15, 1e-4, 1000.0),
        lambda v: np.where(
            v < 1e-4, 0.15 - 0.15 * (v - 1e-4) ** 2 / 1e-8, 0.1 + 0.05 * np.exp(-1000 * np.maximum(v - 1e-4, 0))
        ),
    ),
}


@pytest.mark.parametrize("name", FRICTION)
def test_friction_over_slip_is_the_papers_curve_and_opposes_slip(name):
    law, curve = FRICTION[name]
    speeds = np.array([1e-6, 3e-5, 1e-4, 2e-4, 5e-4, 1e-3, 5e-3, 0.3])
    way = np.array([0.6, -0.8, 0.0])
    force, _ = law(speeds[:, None] * way, jnp.full(8, 50.0), jnp.zeros((8, 0)))
    np.testing.assert_allclose(force, -50 * curve(speeds)[:, None] * way, rtol=1e-12, atol=1e-12)


ALL_FRICTION = [law for law, _ in FRICTION.values()] + [
    mb.Frictionless(), mb.Dahl(0.1), mb.LuGre(0.1, 0.2), mb.LuGre(0.1, 0.2, printed=True),
]  # fmt: skip


@pytest.mark.parametrize("law", ALL_FRICTION, ids=lambda x: type(x).__name__)
def test_friction_dissipates_and_has_finite_derivatives(law, random):
    m = law.bristles
    slip = jnp.asarray(random.normal(size=(300, 3)) * 10.0 ** random.uniform(-6, 1, (300, 1)))
    slip = slip.at[:20].set(0.0)
    normal = jnp.asarray(np.concatenate([np.zeros(20), random.uniform(0, 1e3, 280)])[random.permutation(300)])
    bristle = jnp.zeros((300, m))
    force, _ = law(slip, normal, bristle)
    assert (jnp.sum(force * slip, axis=-1) <= 1e-15).all()

    def one(x):
        f, r = law(x[None, :3], x[3:4], x[None, 4 : 4 + m])
        return jnp.concatenate([f.ravel(), r.ravel()])

    inputs = jnp.concatenate([slip, normal[:, None], bristle], axis=-1)
    for function in (one, jax.jacfwd(one), jax.jacfwd(jax.jacfwd(one))):
        assert jnp.isfinite(jax.vmap(function)(inputs)).all()


@pytest.mark.parametrize("law", [mb.Dahl(0.1), mb.LuGre(0.1, 0.2)], ids=lambda x: type(x).__name__)
def test_bristle_force_vanishes_with_the_normal_force(law):
    slip, bristle = jnp.array([[0.5, 0, 0]]), jnp.array([[1e-3, 0, 0]])
    for normal in (1.0, 1e-3, 1e-6, 0.0):
        force, _ = law(slip, jnp.array([normal]), bristle)
        assert jnp.abs(force).max() <= 0.42 * normal


@pytest.mark.parametrize(("law", "level"), [(mb.Dahl(0.1), 0.1), (mb.LuGre(0.1, 0.2), 0.1)], ids=["Dahl", "LuGre"])
def test_bristles_settle_at_the_sliding_friction(law, level):
    slip, normal = jnp.array([[0.05, 0, 0]]), jnp.array([20.0])

    def step(z, _):
        return z + 1e-6 * law(slip, normal, z)[1], None

    z, _ = jax.lax.scan(step, jnp.zeros((1, 3)), None, length=8000)
    force, _ = law(slip, normal, z)
    np.testing.assert_allclose(force[0, 0], -level * 20, rtol=1e-6)


ROUNDED = {  # law by smoothing, corners of its curve
    "Ambrosio": (lambda w: mb.Ambrosio(0.2, 1e-4, V, smoothing=w), (1e-4, V)),
    "PiecewiseLinear": (lambda w: mb.PiecewiseLinear(0.1, 0.15, 1e-4, V, smoothing=w), (1e-4, V)),
    "BengisuAkay": (lambda w: mb.BengisuAkay(0.1, 0.15, 1e-4, 1000.0, smoothing=w), (1e-4,)),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_friction_has_no_corner_and_is_the_papers_law_away_from_them(name):
    law, corners = ROUNDED[name]
    width = 2e-5

    def force(law, speed):
        slip = speed[:, None] * np.array([1.0, 0.0, 0.0])
        return law(slip, jnp.ones(speed.shape), jnp.zeros((speed.size, 0)))[0][:, 0]

    speed = np.linspace(1e-6, 2e-3, 3000)
    near = np.min(np.abs(speed[:, None] - np.array(corners)), axis=1) < width
    off = np.abs(force(law(width), speed) - force(law(0.0), speed))
    assert off[~near].max() < 1e-14 < off[near].max() < 0.02
    slope = jax.vmap(jax.grad(lambda v, w: force(law(w), v[None])[0]), (0, None))
    for at in corners:
        sides = at + np.array([-1e-10, 1e-10])
        sharp, rounded = slope(sides, 0.0), slope(sides, width)
        assert abs(sharp[1] - sharp[0]) > 10 and abs(rounded[1] - rounded[0]) < 1e-2 * abs(sharp[1] - sharp[0])
    with pytest.raises(ValueError, match=r"corner.*at most 0\.0001"):
        law(1.1e-4)


@pytest.mark.parametrize("law", [mb.Dahl, mb.LuGre])
def test_rounded_bristle_is_smooth_at_rest(law):
    numbers = (0.1,) if law is mb.Dahl else (0.1, 0.2)

    def rate(v, smoothing):
        bristle = jnp.array([[5e-7, 0.0, 0.0]])
        return law(*numbers, smoothing=smoothing)(jnp.array([[1.0, 0, 0]]) * v, jnp.ones(1), bristle)[1][0, 0]

    slope = jax.grad(rate)
    assert abs(slope(1e-12, 0.0) - slope(-1e-12, 0.0)) > 0.1 and abs(slope(1e-12, 1e-4) - slope(-1e-12, 1e-4)) < 1e-6
    assert abs(rate(0.1, 1e-4) / rate(0.1, 0.0) - 1) < 1e-12 and abs(rate(1e-6, 1e-9) / rate(1e-6, 0.0) - 1) < 1e-12
