"""What a rig measures: filters against SciPy, accelerometers against closed forms, their numbers as parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import signal

import identification as ident
import mbjax as mb

TS = np.sort(np.concatenate([np.linspace(0, 0.02, 1501), np.linspace(0.00313, 0.0171, 90)]))
WAVE = np.sin(2 * np.pi * 300 * TS) * np.exp(-50 * TS) + 0.2


@pytest.mark.parametrize("order", [1, 2, 3, 4, 8])
def test_low_pass_is_that_of_scipy_on_an_even_grid(order):
    ts, wave = TS[:1] + np.arange(1000) * 1e-5, np.interp(np.arange(1000) * 1e-5, TS, WAVE)
    space = signal.StateSpace(*signal.tf2ss(*signal.butter(order, 2 * np.pi * 1000, analog=True)))
    start = -np.linalg.solve(space.A, space.B[:, 0] * wave[0])
    expected = signal.lsim(space, wave, ts, X0=start)[1]
    found = ident.Butterworth(1000.0, order)(jnp.asarray(ts), None, None, jnp.asarray(wave))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_low_pass_of_a_rate_is_that_of_the_acceleration_itself():
    # v = t^3, on uneven samples: by its acceleration as a signal, by its velocity and slope, and in closed form.
    tau = 1 / (2 * np.pi * 200)
    exact = 3 * TS**2 - 6 * tau * TS + 6 * tau**2 * (1 - np.exp(-TS / tau))
    low = ident.Butterworth(200.0, 1)
    zero = jnp.zeros(TS.size)
    np.testing.assert_allclose(low(jnp.asarray(TS), None, None, jnp.asarray(3 * TS**2)), exact, atol=1e-9)
    rate = low(jnp.asarray(TS), jnp.asarray(TS**3), jnp.asarray(3 * TS**2), zero)
    np.testing.assert_allclose(rate, exact, atol=1e-15)


@pytest.mark.parametrize("seen", [ident.Butterworth(1e3, 2), ident.ChannelFrequencyClass(600.0)], ids=["low", "cfc"])
def test_pulses_between_samples_count_in_full(seen):
    """Accelerations of two half sines of 50 us, one of which lies between samples 60 us apart."""

    def signals(ts):
        x = [jnp.clip((ts - begin) / 50e-6, 0, 1) for begin in (1e-3, 2e-3 + 7e-6)]
        speed = sum(50e-6 / np.pi * 100 * (1 - jnp.cos(np.pi * p)) for p in x)
        slope = sum(100 * jnp.sin(np.pi * p) * ((p > 0) & (p < 1)) for p in x)
        return speed, slope, jnp.zeros_like(ts)

    fine, coarse = jnp.linspace(0, 6e-3, 60001), jnp.linspace(0, 6e-3, 101)
    expected, found = (np.asarray(seen(ts, *signals(ts))) for ts in (fine, coarse))
    np.testing.assert_allclose(np.trapezoid(found, coarse), np.trapezoid(expected, fine), rtol=2e-2)
    np.testing.assert_allclose(found[80:], expected[::600][80:], atol=2e-3 * np.abs(expected).max())


def test_channel_frequency_class_is_the_digital_filter_of_j211():
    step, kind = 1e-5, 600
    ts = np.arange(2001) * step
    wave = np.interp(ts, TS, WAVE)
    wa = np.tan(2 * np.pi * kind * 2.0775 * step / 2)
    a0 = wa**2 / (1 + np.sqrt(2) * wa + wa**2)
    b = [a0, 2 * a0, a0]
    a = [
        1,
        2 * (wa**2 - 1) / (1 + np.sqrt(2) * wa + wa**2),
        (1 - np.sqrt(2) * wa + wa**2) / (1 + np.sqrt(2) * wa + wa**2),
    ]
    digital = signal.lfilter(b, a, signal.lfilter(b, a, wave)[::-1])[::-1]
    found = np.asarray(ident.ChannelFrequencyClass(kind)(jnp.asarray(ts), None, None, jnp.asarray(wave)))
    np.testing.assert_allclose(found[400:1600], digital[400:1600], atol=1e-4)


def pendulum():
    return mb.library.pendulum(length=1.0, mass=2.0, inertia=(0.1, 0.1, 0.1), angle=0.7).add(
        mb.Marker("tip", "bob", (0.0, 0.0, 0.0))
    )


def test_accelerometer_at_the_mass_centre_feels_what_the_pin_pulls():
    system = mb.assemble(pendulum())
    trajectory = mb.simulate(system, mb.initial_state(system), jnp.linspace(0, 1, 2001))
    for axis in "xyz":
        sensor = ident.Accelerometer("tip", axis, gain=2.0, bias=0.5)
        felt = sensor.read(trajectory.ts, trajectory[list(sensor.channels())])
        pull = jnp.stack([trajectory[f"pin.reaction.{a}"] for a in "xyz"], axis=-1)
        axes = trajectory.snapshots().marker_axes[:, 0, :, "xyz".index(axis)]
        expected = 2.0 * jnp.sum(axes * pull, axis=-1) / 2.0 + 0.5
        np.testing.assert_allclose(felt[1:-1], expected[1:-1], atol=2e-5)


def test_a_delay_shows_what_was():
    sensor = ident.encoder("pin", delay=0.25)
    ts = jnp.linspace(0, 1, 101)
    np.testing.assert_allclose(sensor.read(ts, (ts**2)[:, None])[25:], (ts[25:] - 0.25) ** 2, atol=1e-12)
    slope = jax.grad(lambda d: ident.encoder("pin", delay=d).read(ts, (3 * ts)[:, None])[50])(0.101)
    assert abs(slope + 3) < 1e-9


@pytest.mark.slow
def test_numbers_of_a_sensor_are_fitted_with_those_of_the_mechanism():
    mechanism = pendulum().add(mb.JointFriction("drag", "pin", "spin", viscous=0.3))
    true = ident.Accelerometer("tip", "x", ident.Butterworth(8.0), gain=1.2, bias=0.3, delay=0.01)
    system = mb.assemble(mechanism)
    ts = np.linspace(0, 2, 401)
    motion = mb.simulate(system, mb.initial_state(system), jnp.asarray(ts), steps=mb.Adaptive(rtol=1e-10))
    reading = np.asarray(true.read(motion.ts, motion[list(true.channels())]))
    recording = ident.Recording(ts, {"a": reading})
    run = ident.Experiment("swing", recording, [ident.Compared("meter", "a", sigma=1e-2)])
    start = ident.Accelerometer("tip", "x", ident.Butterworth(5.0))
    unknown = [ident.Parameter("drag", "drag.viscous", start=0.1, scale="log")] + [
        ident.Parameter(p, f"meter.{p}", **more)
        for p, more in (("gain", {}), ("bias", {}), ("filter.cutoff", {"scale": "log"}), ("delay", {"start": 0.004}))
    ]
    problem = ident.Problem(mechanism, unknown, [run], sensors={"meter": start})
    result = ident.fit(problem)
    np.testing.assert_allclose(result.x, [0.3, 1.2, 0.3, 8.0, 0.01], rtol=1e-5)
    with pytest.raises(ident.StudyError, match=r"Sensor `meter` has no number `gian`\. Did you mean `gain`"):
        ident.Problem(mechanism, [ident.Parameter("g", "meter.gian")], [run], sensors={"meter": start})
