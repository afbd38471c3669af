"""A touch faster than a law is meant for brings a warning after the run, wherever the limit came from."""

import re
import warnings

import jax
import jax.numpy as jnp
import pytest

import mbjax as mb


def ball(limit, height):
    mechanism = mb.library.bouncing_ball(height=height)
    play = mechanism["wall"].realisation
    return mechanism.replace("wall", mb.Clearance(play.pair, play.interface, limit))


def run(mechanism, end=0.2):
    system = mb.assemble(mechanism)
    return mb.simulate(system, mb.initial_state(system), [0.0, end])


@pytest.mark.parametrize(("height", "warned"), [(0.06, True), (0.04, False)])
def test_a_fast_touch_is_told(height, warned, tmp_path):
    """1 m/s is reached from 51 mm."""
    (tmp_path / "ball.toml").write_text(ball(1.0, height).to_toml())
    loaded = mb.load(tmp_path / "ball.toml")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        trajectory = run(loaded)
    texts = [str(w.message) for w in found]
    assert bool(texts) == warned
    if warned:
        (text,) = texts
        assert re.search(r"wall: .*touched at 1\.08 m/s; the law is meant for at most 1 m/s", text)
    assert float(trajectory.states.memory.points.fastest[-1, 0]) == pytest.approx((2 * 9.81 * height) ** 0.5, rel=1e-6)


def test_add_clearance_knows_the_limit_of_its_material():
    mechanism = mb.add_clearance(mb.library.double_pendulum(), "pin1", 1e-3, speed=0.01)
    limit = mechanism["pin1"].realisation.highest_speed
    assert limit == pytest.approx(1e-5 * (207e9 / 7850) ** 0.5)
    with pytest.warns(mb.ModelWarning, match="pin1: .*touched at"):
        run(mechanism, 0.03)


def test_transformations_do_not_warn():
    system = mb.assemble(ball(0.1, 0.06))
    state = mb.initial_state(system)

    @jax.jit
    def final(mass):
        return mb.simulate(system.bind({"ball.mass": mass}), state, [0.0, 0.2])["ball.position.z"][-1]

    assert jnp.isfinite(final(1.0)) and jnp.isfinite(jax.jacfwd(final)(1.0))


def test_a_limit_must_be_positive():
    with pytest.raises(ValueError, match="highest_speed -1 m/s must be positive"):
        ball(-1.0, 0.1)
