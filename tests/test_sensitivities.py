"""Derivatives of end states: joint integration = ForwardMode = reverse = Richardson differences, each to 1e-7."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from differences import richardson

import mbjax as mb
from mbjax.element.characteristic import Linear

pytestmark = pytest.mark.slow


def sprung(mechanism, connection):
    return mechanism.add(mb.JointSpring("coil", connection, "spin", Linear(0.5)))


CASES = {
    "pendulum": (
        lambda: sprung(mb.library.pendulum(length=0.5, mass=1.2, inertia=(0.01, 0.02, 0.03)), "pin"),
        ["bob.mass", "bob.inertia", "gravity.acceleration.y", "coil.characteristic.stiffness", "bob.position.x"],
        "pin.spin",
        "bob.position.x",
        1.0,
    ),
    "four_bar": (
        lambda: sprung(mb.library.four_bar(), "crank_pivot"),
        ["coupler.mass", "gravity.acceleration.z", "coil.characteristic.stiffness", "crank_pin.frame.journal.point.z"],
        "crank_pivot.spin",
        "rocker.position.x",
        0.15,
    ),
    "slider_crank": (
        lambda: sprung(mb.library.slider_crank_3d(), "A"),
        ["slider.mass", "rod.inertia", "gravity.acceleration.z", "coil.characteristic.stiffness"],
        "A.spin",
        "slider.position.x",
        0.5,
    ),
}


def outcome(case, adjoint, rtol):
    """End values as a function of relative parameter changes, the last one being the initial speed."""
    build, paths, speed, channel, end = CASES[case]
    mechanism = build()
    system = mb.assemble(mechanism)
    values = [jnp.asarray(mechanism.value(p)) for p in paths]

    def run(p):
        bound = system.bind({path: v * (1 + dp) for path, v, dp in zip(paths, values, p[:-1], strict=True)})
        state = mb.initial_state(bound, speeds={speed: 1.0 + p[-1]}, throw=False)
        trajectory = mb.simulate(
            bound, state, jnp.array([0.0, end]), steps=mb.Adaptive(rtol=rtol), adjoint=adjoint, throw=False
        )
        return jnp.stack([trajectory[channel][-1], trajectory[speed][-1]])

    return run, len(paths) + 1


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.long) if c in ("pendulum", "four_bar") else c for c in CASES]
)
def test_four_ways_to_differentiate_agree(case):
    run, count = outcome(case, None, 1e-12)
    expected = richardson(jax.jit(run), count, 2e-3)
    scale = np.abs(expected).max()
    zero = jnp.zeros(count)
    joint = jax.jit(jax.jacfwd(outcome(case, mb.Tangents(), 1e-9)[0]))(zero)
    forward = jax.jit(jax.jacfwd(outcome(case, mb.ForwardMode(), 1e-9)[0]))(zero)
    reverse = jax.jit(jax.jacrev(outcome(case, mb.Replay(), 1e-9)[0]))(zero)
    for found in (joint, forward, reverse):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * scale)


def test_default_answers_reverse_mode_too():
    run, count = outcome("pendulum", None, 1e-9)
    zero = jnp.zeros(count)
    np.testing.assert_allclose(jax.jit(jax.jacrev(run))(zero), jax.jit(jax.jacfwd(run))(zero), rtol=1e-7, atol=1e-8)


def test_forward_mode_has_second_derivatives_and_no_reverse():
    run, count = outcome("pendulum", mb.ForwardMode(), 1e-11)
    zero, first = jnp.zeros(count), jax.jit(jax.jacfwd(run))
    second = jax.jit(jax.jacfwd(jax.jacfwd(run)))(zero)
    expected = np.stack([(first(zero + h) - first(zero - h)) / 2e-4 for h in 1e-4 * jnp.eye(count)], axis=-1)
    np.testing.assert_allclose(second, expected, atol=1e-6 * np.abs(expected).max())
    batch = jax.jit(jax.vmap(jax.jacfwd(run)))(jnp.stack([zero, zero + 0.01]))
    np.testing.assert_allclose(batch, [first(zero), first(zero + 0.01)], rtol=1e-9, atol=1e-9)
    with pytest.raises(NotImplementedError, match="Replay"):
        jax.jacrev(run)(zero)


def test_derivative_by_the_output_and_start_times():
    system = mb.assemble(mb.library.pendulum())
    state = mb.initial_state(system)

    def position(ts):
        return mb.simulate(system, state, ts, steps=mb.Adaptive(rtol=1e-11))["bob.position.y"][-1]

    ts = jnp.array([0.0, 0.4, 0.7])
    speed = mb.simulate(system, state, ts, steps=mb.Adaptive(rtol=1e-11))["bob.velocity.y"][-1]
    np.testing.assert_allclose(jax.jacfwd(position)(ts), [-speed, 0, speed], atol=1e-8)


def test_second_derivative_through_the_default_is_refused_in_words():
    system = mb.assemble(mb.library.pendulum())
    state = mb.initial_state(system)

    def position(y):
        bound = system.bind({"gravity.acceleration.y": y})
        return mb.simulate(bound, state, jnp.array([0.0, 0.2]), throw=False)["bob.position.y"][-1]

    with pytest.raises(NotImplementedError, match="ForwardMode"):
        jax.jacfwd(jax.jacfwd(position))(-9.81)


@pytest.mark.slow
def test_derivatives_over_a_batch_equal_a_batch_of_derivatives():
    system = mb.assemble(mb.library.pendulum(length=1.0, inertia=(0.1, 0.1, 0.1)))
    ts, speeds = jnp.linspace(0, 1, 3), jnp.array([1.0, 2.0])

    def states(mass, speed):
        bound = system.bind({"bob.mass": mass})
        state = mb.initial_state(bound, speeds={"pin.spin": speed})
        return mb.simulate(bound, state, ts, throw=False).states

    outside = jax.jacfwd(lambda m: jax.vmap(lambda v: states(m, v))(speeds))(1.5)
    inside = jax.vmap(lambda v: jax.jacfwd(lambda m: states(m, v))(1.5))(speeds)
    for a, b in zip(jax.tree.leaves(outside), jax.tree.leaves(inside), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def position(values, speed, system, ts):
    """Of a pendulum by its mass centre's lever and gravity."""
    bound = system.bind({"bob.position.x": values[0], "gravity.acceleration.y": values[1]})
    state = mb.initial_state(bound, speeds={"pin.spin": speed}, throw=False)
    return mb.simulate(bound, state, ts, steps=mb.Adaptive(rtol=1e-9), throw=False)["bob.position.y"]


def test_every_way_through_a_batch_of_runs_gives_the_same_derivatives():
    system, ts = mb.assemble(mb.library.pendulum()), jnp.linspace(0, 0.5, 4)
    values, speeds = jnp.array([1.0, -9.81]), jnp.array([0.5, 1.0, 2.0, 3.0])
    one = functools.partial(position, system=system, ts=ts)
    expected = np.stack([jax.jacfwd(one)(values, v) for v in speeds])

    def nested(p):
        return jax.vmap(jax.vmap(lambda v: one(p, v)))(speeds.reshape(2, 2)).reshape(4, -1)

    def own_values(p):
        return jax.vmap(lambda share, v: one(p * share, v))(jnp.ones((4, 2)), speeds)

    for way in (jax.jacfwd(nested), jax.jacrev(nested), jax.jacrev(jax.checkpoint(own_values))):
        np.testing.assert_allclose(jax.jit(way)(values), expected, rtol=1e-8, atol=1e-9)


def test_values_beside_a_derivative_are_as_good_and_in_reverse_mode_the_same():
    system, ts, values = mb.assemble(mb.library.pendulum()), jnp.linspace(0, 0.5, 4), jnp.array([1.0, -9.81])
    one = functools.partial(position, speed=1.0, system=system, ts=ts)
    plain = one(values)
    np.testing.assert_allclose(jax.jvp(one, (values,), (values,))[0], plain, atol=1e-8)
    np.testing.assert_array_equal(jax.linearize(one, values)[0], plain)
    np.testing.assert_array_equal(jax.vjp(one, values)[0], plain)
    with pytest.raises(NotImplementedError, match="ForwardMode"):
        jax.jacfwd(jax.grad(lambda p: one(p)[-1]))(values)


def test_a_derivative_with_values_is_one_integration():
    system, ts, values = mb.assemble(mb.library.pendulum()), jnp.linspace(0, 0.5, 4), jnp.array([1.0, -9.81])

    def both(p):
        found = position(p, 1.0, system, ts)
        return found, found

    text = str(jax.make_jaxpr(jax.jacfwd(both, has_aux=True))(values))
    assert text.count("mbjax_tangents[") == 1
    assert "mbjax_loop_that_idles_when_done" not in text  # the plain run's loop
