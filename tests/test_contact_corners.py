"""Corners of friction laws: each branch as far as it is asked for, where steps end, derivatives through reversals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

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
        ([1.2, 0, 0], 2, [0.9995, 0, 0], 1.0, 1),  # beyond the corner by less than is allowed: it has passed
    ],
)
def test_steps_end_where_a_slip_passes_a_corner(before, pace, after, where, then):
    speeds, slip = jnp.array([[0.1, 1.0]]), jnp.array([after])
    seen = slip, slip - jnp.array([before]), speeds, 1.0, 1e-3
    assert abs(float(corners.fraction(points(before, pace), *seen)[0]) - where) < 1e-3
    assert float(corners.fraction(points(before, pace, OPEN), *seen)[0]) == 1.0
    if where == 1.0:
        assert int(corners.settled(points(before, pace), jnp.array([CLOSED]), slip, speeds)[0]) == then


def test_a_slip_that_goes_beyond_a_corner_and_comes_back_is_seen():
    """From .9 with the rate .6 at the end of a step of 1 back to .9: at 1 after (1 - (1 / 3)^(1/2)) / 2."""
    slip, speeds = jnp.array([[0.9, 0.0, 0.0]]), jnp.array([[0.1, 1.0]])
    seen = slip, jnp.array([[-0.6, 0.0, 0.0]]), speeds, 1.0, 1e-9
    assert abs(float(corners.fraction(points([0.9, 0, 0], 1), *seen)[0]) - (1 - 3**-0.5) / 2) < 1e-6


def test_the_next_corner_is_foreseen():
    """A slip that lost .25 in .1 s, at 1.75 with the rate -3 now, goes on along that parabola to 1; what lies further
    off than four steps is not foreseen."""
    speeds, mode, pace = jnp.array([[0.1, 1.0]]), jnp.array([CLOSED]), jnp.array([2])

    def ahead(before, rate):
        slip, rate = jnp.array([[1.75, 0.0, 0.0]]), jnp.array([[rate, 0.0, 0.0]])
        return float(corners.expected(points(before, 2), mode, pace, slip, rate, speeds, 0.1, 1e-6))

    assert abs(ahead([2.0, 0, 0], -3.0) - (0.24**0.5 - 0.3)) < 1e-6
    assert np.isinf(ahead([1.8, 0, 0], -0.5))


def sled(speed):
    """Something heavy to turn that lies on a plane with friction and is pushed to and fro: its slip passes corners at
    all angles, some of them barely."""
    stiffness = 1e4
    interface = mb.Dry(mb.Impact(mb.Hertz(stiffness), mb.Flores(0.99999)), mb.Ambrosio(0.05, 0.05, 1.0))
    low = 0.05 - (9.81 / stiffness) ** (2 / 3)
    ball = mb.SpatialBody("ball", 1.0, (1e9, 1e9, 1e9), position=(0, 0, low), velocity=(speed, 0, 0))
    push = mb.AppliedForce("push", "ball", mb.signal.Harmonic(amplitude=2.2, frequency=1 / np.pi), (1, 0, 0))
    return mb.library.bouncing_ball(height=0.0, interface=interface).replace("ball", ball).add(push)


def test_the_error_falls_with_the_tolerance_where_slips_pass_corners():
    """Against DOP853 on m x'' = F sin(w t) - mu m g c(x'), stopped at every corner."""
    system = mb.assemble(sled(0.0))

    def exact(speed):
        def flow(t, y, side):
            share = {0: 0.0, 1: (abs(y[1]) - 0.05) / 0.95, 2: 1.0}[side]
            return [y[1], 2.2 * np.sin(2 * t) - 0.05 * 9.81 * share * np.sign(y[1])]

        t, y, edges = 0.0, [0.0, speed], (0.0, 0.05, 1.0, np.inf)
        side = int(np.searchsorted(edges, abs(speed))) - 1
        while t < 12.0:
            stops = [lambda t, y, s, e=e: abs(y[1]) - e for e in edges[side : side + 2] if 0 < e < np.inf]
            for stop, direction in zip(stops, [-1, 1] if side == 1 else [1] if side == 0 else [-1], strict=True):
                stop.terminal, stop.direction = True, direction
            run = integrate.solve_ivp(flow, (t, 12.0), y, "DOP853", events=stops, args=(side,), rtol=1e-12, atol=1e-12)
            t, y = run.t[-1], run.y[:, -1]
            if t < 12.0:
                fell = any(len(x) and stop.direction < 0 for x, stop in zip(run.t_events, stops, strict=True))
                side += -1 if fell else 1
        return y[0]

    for speed in (-0.5, -0.9, -1.3):
        bound, errors = system.bind({"ball.velocity": np.array([speed, 0.0, 0.0])}), []
        for rtol in (1e-4, 1e-6, 1e-8):
            run = mb.simulate(bound, mb.initial_state(bound), [0.0, 12.0], steps=mb.Adaptive(rtol=rtol))
            errors.append(abs(float(run["ball.position.x"][-1]) - exact(speed)))
        assert errors[0] < 1e-4 and errors[1] < 1e-6 and errors[2] < 2e-8, (speed, errors)


def test_a_motion_with_corners_is_saved_and_read(tmp_path):
    system = mb.assemble(sled(1.5))
    run = mb.simulate(system, mb.initial_state(system), np.linspace(0.0, 1.0, 5))
    run.save(tmp_path / "sled")
    again = mb.Trajectory.load(tmp_path / "sled")
    np.testing.assert_array_equal(again["ball.position.x"], run["ball.position.x"])
    # From any state the motion goes on as it did.
    half = jax.tree.map(lambda rows: rows[2], run.states)
    rest = mb.simulate(system, half, run.ts[2:], steps=mb.Adaptive(rtol=1e-9))
    np.testing.assert_allclose(rest["ball.position.x"], run["ball.position.x"][2:], rtol=1e-5)


@pytest.mark.slow
def test_the_steps_of_the_motion_serve_its_derivatives_through_reversals():
    """A turn of P2's mechanism, 23 contacts: tangents along the plain run's steps against those integrated under
    their own control. Where steps went across corners they were up to 1e-2 off."""
    path = "B.interface.normal.hysteresis.restitution"
    mechanism = mb.library.planar_slider_crank_clearance(friction=mb.Ambrosio(0.03, 1e-4, 1e-3))
    system, ts = mb.assemble(mechanism), np.linspace(0, REVOLUTION, 61)

    def slope(adjoint, rtol):
        def position(e):
            changed = system.bind(mechanism.with_values({path: e}))
            run = mb.simulate(changed, mb.initial_state(changed), ts, steps=mb.Adaptive(rtol=rtol), adjoint=adjoint)
            return run["slider.position.x"]

        return jax.jit(jax.jacfwd(position))(0.9)

    exact, found = slope(mb.Tangents(), 1e-10), slope(mb.ForwardMode(), 1e-8)
    np.testing.assert_allclose(found, exact, atol=1e-3 * np.abs(exact).max())
