"""Features instead of samples, and losses that outliers cannot move."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize._lsq.least_squares import construct_loss_function

import identification as ident
import mbjax as mb
from identification import measure
from identification.loss import LOSSES, softened
from identification.measure import labels_of
from identification.measure.table import measure_from_table
from mbjax.io.faults import Faults

PATHS = {"K": "wall.interface.normal.elastic.stiffness", "e": "wall.interface.normal.hysteresis.restitution"}


def ball(stiffness=1e6, restitution=0.8):
    law = mb.Dry(mb.Impact(mb.Hertz(stiffness), mb.Flores(restitution)))
    return mb.library.bouncing_ball(height=0.02, interface=law)


@pytest.fixture(scope="module")
def bounces():
    system = mb.assemble(ball())
    ts = jnp.linspace(0, 0.4, 801)
    return mb.simulate(system, mb.initial_state(system), ts, steps=mb.Adaptive(rtol=1e-9), events=20)


def test_measures_say_what_the_motion_says(bounces):
    times = measure.Contacts("wall", "time", 4)
    found = np.asarray(times(bounces))
    np.testing.assert_allclose(found, [r["time"] for r in bounces.events.table() if r["event"] == "touch"][:4])
    assert abs(found[0] - np.sqrt(2 * 0.02 / 9.81)) < 1e-10
    speeds = np.asarray(measure.Contacts("wall", "speed", 2)(bounces))
    assert abs(speeds[0] - np.sqrt(2 * 9.81 * 0.02)) < 1e-9
    assert measure.ContactCount("wall")(bounces)[0] == len(bounces.events.rows("touch"))
    assert np.isnan(measure.Contacts("wall", "time", 20)(bounces)[-1])
    force = measure.LargestForce("wall")(bounces)[0]
    np.testing.assert_allclose(force, np.nanmax(measure.Contacts("wall", "peak force", 3)(bounces)))
    z = np.asarray(bounces["ball.position.z"])
    assert measure.Final("ball.position.z")(bounces)[0] == z[-1]
    assert measure.PeakToPeak("ball.position.z", 0.1)(bounces)[0] == np.ptp(z[np.asarray(bounces.ts) >= 0.1])
    lost = measure.EnergyLoss((0.0, 0.2, 0.4))(bounces)
    np.testing.assert_allclose(lost.sum(), bounces["energy.dissipated"][-1])
    labels = labels_of([times, measure.EnergyLoss((0.0, 0.2, 0.4))])
    assert labels[0] == "wall touch 1 time" and labels[-1] == "energy lost 0.2 to 0.4 s"
    with pytest.raises(KeyError, match=r"`wal` has no contact points. Connections that have: wall"):
        measure.ContactCount("wal")(bounces)


def test_amplitudes_and_means_of_an_oscillation_are_those_of_its_formula():
    period = 2 * np.pi * np.sqrt(1.1 / 9.81)
    system = mb.assemble(mb.library.pendulum(length=1.0, mass=1.0, inertia=(0.1, 0.1, 0.1), angle=1e-4))
    run = mb.simulate(
        system, mb.initial_state(system), jnp.linspace(0, 4 * period, 2001), steps=mb.Adaptive(rtol=1e-10)
    )
    found = measure.Spectrum("pin.spin", [1 / period, 2 / period])(run)
    np.testing.assert_allclose(found, [1e-4, 0], atol=1e-9)
    # The spin counts from the start: 1e-4 (cos - 1).
    np.testing.assert_allclose(measure.RootMeanSquare("pin.spin")(run), 1e-4 * np.sqrt(1.5), rtol=1e-5)
    assert abs(measure.Mean("pin.spin")(run)[0] + 1e-4) < 1e-9
    section = measure.Poincare(["pin.spin", "pin.spin_rate"], period, 3, 0.0)
    np.testing.assert_allclose(section(run), [0, 0] * 3, atol=2e-9)


@pytest.mark.slow
def test_times_and_speeds_of_impacts_alone_give_stiffness_and_restitution(bounces):
    features = [ident.Feature(m, m(bounces), s) for m, s in (
        (measure.Contacts("wall", "time", 5), 1e-6), (measure.Contacts("wall", "speed", 5), 1e-4),
        (measure.Contacts("wall", "peak force", 3), 1.0),
    )]  # fmt: skip
    test = ident.FeatureTest("bounces", [0.0, 0.4], features)
    unknown = [ident.Parameter("K", PATHS["K"], scale="log"), ident.Parameter("e", PATHS["e"], lower=0.1, upper=1.0)]
    result = ident.fit(ident.Problem(ball(2e6, 0.7), unknown, [test]))
    np.testing.assert_allclose(result.x, [1e6, 0.8], rtol=1e-5)
    assert [v.word for v in result.verdicts] == ["identifiable"] * 2


def test_features_of_contacts_need_contacts():
    test = ident.FeatureTest("x", [0.0, 1.0], [ident.Feature(measure.Contacts("pin", "time", 1), [0.1])])
    with pytest.raises(ident.StudyError, match="`x`: features of contacts, but nothing can touch"):
        ident.Problem(mb.library.pendulum(), [ident.Parameter("m", "bob.mass")], [test])
    with pytest.raises(ident.DataError, match="2 values were given for 1 numbers"):
        ident.Feature(measure.Final("a.b"), [1.0, 2.0])


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_those_of_scipy(loss, random):
    r = np.concatenate([random.normal(size=50) * 5, [0.0, 1e-9]])
    jacobian = random.normal(size=(r.size, 3))
    soft, slope = softened(loss, 0.7, r, jacobian)
    theirs = construct_loss_function(r.size, loss, 0.7)
    expected = 0.5 * np.sum(r**2) if theirs is None else theirs(r, cost_only=True)
    np.testing.assert_allclose(0.5 * soft @ soft, expected, rtol=1e-12)
    h = 1e-6
    change = np.array([1.0, -2.0, 0.5])
    moved = [softened(loss, 0.7, r + s * h * jacobian @ change)[0] for s in (1, -1)]
    np.testing.assert_allclose(slope @ change, (moved[0] - moved[1]) / (2 * h), atol=2e-5, rtol=1e-5)


@pytest.mark.slow
def test_outliers_do_not_move_a_robust_fit():
    mechanism = mb.library.pendulum(length=1.0, mass=2.0, inertia=(0.1, 0.1, 0.1), angle=0.7)
    mechanism = mechanism.add(mb.JointFriction("drag", "pin", "spin", viscous=0.3))
    system = mb.assemble(mechanism)
    ts = np.linspace(0, 3, 151)
    angle = np.array(mb.simulate(system, mb.initial_state(system), jnp.asarray(ts))["pin.spin"])
    angle += 1e-3 * np.random.default_rng(1).normal(size=ts.size)
    angle[20:40] += 0.3
    run = ident.Experiment("swing", ident.Recording(ts, {"a": angle}), [ident.Compared("pin.spin", "a", 1e-3)])
    unknown = [ident.Parameter("drag", "drag.viscous", start=0.2, scale="log")]
    plain = ident.fit(ident.Problem(mechanism, unknown, [run])).x[0]
    robust = ident.fit(ident.Problem(mechanism, unknown, [run], loss="cauchy")).x[0]
    assert abs(robust - 0.3) < 0.01 < abs(plain - 0.3)
    with pytest.raises(ident.StudyError, match="loss `cauchi` is unknown"):
        ident.Problem(mechanism, unknown, [run], loss="cauchi")


@pytest.mark.slow
def test_derivatives_of_measures_go_through_the_contacts():
    system = mb.assemble(ball())
    state = mb.initial_state(system)
    wanted = [measure.Contacts("wall", q, 2) for q in ("time", "speed", "peak force", "impulse")]

    def numbers(e, rtol):
        run = mb.simulate(
            system.bind({PATHS["e"]: e}), state, [0.0, 0.3], steps=mb.Adaptive(rtol=rtol), events=20, throw=False
        )
        return jnp.concatenate([m(run) for m in wanted])

    slope = jax.jit(jax.jacfwd(lambda e: numbers(e, 1e-9)))(0.8)
    # Finer steps for the differences: a peak between two steps is that of a cubic.
    exact = jax.jit(lambda e: numbers(e, 1e-13))
    expected = np.asarray(exact(0.8 + 1e-3) - exact(0.8 - 1e-3)) / 2e-3
    np.testing.assert_allclose(slope, expected, rtol=2e-3, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize(("changes", "message"), [
    ({"since": "5 m"}, r"m\.since: .*expected s"),
    ({"since": True}, r"m\.since: is true/false"),
    ({"channel": 3}, r"m\.channel: is a number \(3\); expected text"),
    ({"frequencies": 3.0}, r"m\.frequencies: is a number \(3\.0\); expected a list"),
    ({"frequencies": ["1 s"]}, r"m\.frequencies\[0\]: .*expected Hz"),
])  # fmt: skip
def test_numbers_of_a_measure_in_a_file_may_have_units(changes, message):
    def read(table):
        faults = Faults("study.toml")
        found = measure_from_table(table, "m", faults)
        faults.raise_any()
        return found

    table = {"kind": "Spectrum", "channel": "bob.position.x", "frequencies": ["1 Hz", 2.5], "since": "5 ms"}
    measure = read(table)
    assert measure.since == 5e-3 and measure.frequencies == (1.0, 2.5)
    with pytest.raises(ValueError, match=message):
        read({**table, **changes})
    with pytest.raises(ValueError, match=r"m\.count: .*expected a whole number above 0"):
        read({"kind": "Contacts", "connection": "wall", "quantity": "time", "count": "five"})
