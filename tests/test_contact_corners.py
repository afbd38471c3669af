"""Corners of friction laws: each branch as far as it is asked for, where steps end, derivatives through reversals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from experiments.planar_reference import REVOLUTION
from mbjax.law import CLOSED, OPEN, Points
from mbjax.stepping import corners

LAWS = [
    (mb.Ambrosio(0.1, 0.2, 1.0), [lambda v: 0 * v, lambda v: (v - 0.2) / 8, lambda v: 0.1 + 0 * v]),
    (
        mb.PiecewiseLinear(0.1, 0.3, 0.2, 1.0),
        [lambda v: 1.5 * v, lambda v: 0.3 - 0.2 * (v - 0.2) / 0.8, lambda v: 0.1 + 0 * v],
    ),
    (
        mb.BengisuAkay(0.1, 0.3, 0.2, 5.0),
        [lambda v: 0.3 * (1 - (v - 0.2) ** 2 / 0.04), lambda v: 0.1 + 0.2 * np.exp(-5 * (v - 0.2))],
    ),
]


@pytest.mark.parametrize(("law", "branches"), LAWS, ids=[type(law).__name__ for law, _ in LAWS])
def test_a_law_stays_on_the_side_it_is_told(law, branches):
    """By hand: every branch goes on as it is beyond its corners; without a word the slip decides."""
    speeds = np.array([0.05, 0.21, 0.7, 1.3])
    slip, normal, bristle = jnp.array([[0.0, -v, 0.0] for v in speeds]), jnp.full(4, 2.0), jnp.zeros((4, 0))
    edges = [float(v) for v in law.corner_speeds()]
    for k, branch in enumerate(branches):
        past = jnp.broadcast_to(jnp.arange(len(edges)) < k, (4, len(edges)))
        force, _ = law(slip, normal, bristle, past)
        np.testing.assert_allclose(force[:, 1], 2 * branch(speeds), rtol=1e-12, atol=1e-15)
    own = jnp.asarray(speeds[:, None] > np.array(edges))
    np.testing.assert_array_equal(law(slip, normal, bristle, own)[0], law(slip, normal, bristle)[0])
    rounded = eqx.tree_at(lambda x: x.smoothing, law, np.asarray(0.05))
    assert all(np.isinf(float(v)) for v in rounded.corner_speeds())
    np.testing.assert_array_equal(rounded(slip, normal, bristle, own & False)[0], rounded(slip, normal, bristle)[0])


def points(slip, pace, mode=CLOSED):
    zero = jnp.zeros(1)
    return Points(jnp.array([mode]), zero, zero, zero, zero, jnp.array([pace]), jnp.array([slip]))


@pytest.mark.parametrize(
    ("before", "pace", "after", "where", "then"),
    [
        ([2.0, 0, 0], 2, [1.5, 0, 0], 1.0, 2),  # nothing
        ([2.0, 0, 0], 2, [-2.0, 0, 0], 0.25, 2),  # a reversal: the first of four corners
        ([0.0, 2, 0], 2, [0.0, 0.9, 0], 1 / 1.1, 1),
        ([0.4, 0, 0], 1, [1.6, 0, 0], 0.5, 2),  # speeding up
        ([0.4, 0, 0], 1, [-0.4, 0, 0], 0.375, 1),  # through the innermost speeds and out again
        ([2.0, 0.5, 0], 2, [-2.0, 0.5, 0], (2 - 0.75**0.5) / 4, 2),  # past rest in the plane
        ([2.0, 1.1, 0], 2, [-2.0, 1.1, 0], 1.0, 2),  # the same, far enough from rest
        ([1.2, 0, 0], 2, [0.999, 0, 0], 1.0, 1),  # beyond the corner by less than is allowed: it has passed
    ],
)
def test_steps_end_where_a_slip_passes_a_corner(before, pace, after, where, then):
    speeds, memory, slip = jnp.array([[0.1, 1.0]]), points(before, pace), jnp.array([after])
    assert abs(float(corners.fraction(memory, slip, speeds)[0]) - where) < 0.02
    if where == 1.0:
        assert int(corners.settled(memory, jnp.array([CLOSED]), slip, speeds)[0]) == then
        assert float(corners.fraction(points(before, pace, OPEN), slip, speeds)[0]) == 1.0


def test_the_next_corner_is_foreseen():
    """A slip of 2 that loses .25 in .1 s is at 1 after another .3 s; what lies further off than four steps is not."""
    speeds, mode = jnp.array([[0.1, 1.0]]), jnp.array([CLOSED])
    slip = jnp.array([[1.75, 0.0, 0.0]])
    ahead = corners.expected(points([2.0, 0, 0], 2), mode, jnp.array([2]), slip, speeds, 0.1)
    assert abs(float(ahead) - 0.3) < 0.01
    far = corners.expected(points([1.8, 0, 0], 2), mode, jnp.array([2]), slip, speeds, 0.1)
    assert np.isinf(float(far))


@pytest.mark.slow
def test_the_steps_of_the_motion_serve_its_derivatives_through_reversals():
    """A turn of P2's mechanism, 23 contacts: tangents along the plain run's steps against those integrated under
    their own control. Where steps went across corners they were up to 1e-2 off, and tangents took twice the time."""
    path = "B.interface.normal.hysteresis.restitution"
    mechanism = mb.library.planar_slider_crank_clearance(friction=mb.Ambrosio(0.03, 1e-4, 1e-3))
    system, ts = mb.assemble(mechanism), np.linspace(0, REVOLUTION, 61)

    def slope(adjoint, rtol):
        def position(e):
            changed = system.bind(mechanism.with_values({path: e}))
            run = mb.simulate(changed, mb.initial_state(changed), ts, steps=mb.Adaptive(rtol=rtol), adjoint=adjoint)
            return run["slider.position.x"], run.statistics.steps

        return jax.jit(jax.jacfwd(position, has_aux=True))(0.9)

    exact, _ = slope(mb.Tangents(), 1e-10)
    found, steps = slope(mb.ForwardMode(), 1e-8)
    np.testing.assert_allclose(found, exact, atol=1e-3 * np.abs(exact).max())
    assert int(steps) < 1000
