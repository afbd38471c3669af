"""Steps through contacts: time that bends at touch and release, where they land, and how many are taken."""

import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from mbjax.stepping.explicit import explicit_step


@pytest.mark.parametrize("tableau", [diffrax.Dopri8, diffrax.Tsit5, diffrax.Dopri5])
@pytest.mark.parametrize(("bend", "force"), [(1.0, lambda t: t**1.5), (-1.0, lambda t: (2.0 - t) ** 1.5)])
def test_a_power_of_time_that_is_not_whole_is_a_polynomial_of_bent_time(tableau, bend, force):
    """Of Hertz' force from a touch at 0, and towards a release at 2, the integral is (2 / 5) 2^(5/2)."""

    def step(bend):
        y, _ = explicit_step(tableau().tableau, lambda t, *_: force(t)[None], 0.0, 2.0, jnp.zeros(1), None, bend)
        return abs(float(y[0]) / (0.4 * 2**2.5) - 1)

    assert step(0.0) > 1e-5 and step(bend) < 1e-14


@pytest.mark.parametrize("friction", [None, mb.Ambrosio(0.03, 1e-4, 1e-3)], ids=["frictionless", "Ambrosio"])
def test_contacts_take_few_steps(friction):
    """P2's mechanism over .9 revolutions, 24 touches; with steps that are even in time it took 988 and 1250."""
    system = mb.assemble(mb.library.planar_slider_crank_clearance(friction=friction))
    run = mb.simulate(
        system, mb.initial_state(system), np.linspace(0.0, 0.0108, 19), steps=mb.Adaptive(rtol=1e-8), events=60
    )
    assert len(run.events.rows("touch")) >= 20
    assert int(run.statistics.steps) < (650 if friction is None else 950)


def test_log_of_contacts_over_few_steps_keeps_momentum():
    """At a coarse tolerance, every contact within some ten steps: impulses are what the slider's speed changes by."""
    ball = mb.library.bouncing_ball(gravity=0.0, height=0.01, speed=1.0)
    system = mb.assemble(ball)
    run = mb.simulate(system, mb.initial_state(system), [0.0, 0.05], steps=mb.Adaptive(rtol=1e-6), events=5)
    touch, release = run.events.table()
    mass = float(system.mechanism.value("ball.mass"))
    assert int(run.statistics.accepted) < 40
    assert abs(release["impulse"] / (mass * (touch["speed"] + release["speed"])) - 1) < 1e-5


def test_no_step_is_longer_than_max_step():
    """Growth after a touch stays below what the user said must not be stepped over."""
    system = mb.assemble(mb.library.bouncing_ball(gravity=0.0, height=0.01, speed=1.0))
    state, longest = mb.initial_state(system), 2e-6
    run = mb.simulate(system, state, [0.0, 0.0105], steps=mb.Adaptive(rtol=1e-3, max_step=longest))
    assert int(run.statistics.accepted) >= round(0.0105 / longest)
