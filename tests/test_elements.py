"""Force elements, drivers, signals, stabilisation and results against closed forms and energy balances."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbjax as mb
from mbjax.element.characteristic import Linear, Polynomial, Tabulated
from mbjax.signal import Constant, ConstantSpeed, Harmonic, SmoothStep, Table
from mbjax.signal.base import rates

TIGHT = mb.Adaptive(rtol=1e-11)
INERTIA = (0.02, 0.03, 0.05)


def wheel(*parts, gravity=0.0, speed=0.0):
    """A body hinged at its mass centre about z: one coordinate, `pin.spin`, with inertia 0.05 kg m^2."""
    mechanism = mb.library.pendulum(length=0.0, inertia=INERTIA, gravity=gravity)
    return mechanism.add(*parts).with_start(speeds={"pin.spin": speed})


def run(mechanism, ts, **options):
    system = mb.assemble(mechanism)
    return mb.simulate(system, mb.initial_state(system), np.asarray(ts, dtype=float), **{"steps": TIGHT, **options})


def assert_balanced(trajectory, allowed=1e-8):
    balance = np.asarray(trajectory["energy.balance"])
    assert np.ptp(balance) <= allowed * max(np.abs(np.asarray(trajectory["energy.kinetic"])).max(), 1e-12)


def test_torsional_spring_winds_over_several_turns():
    spring = mb.JointSpring("coil", "pin", "spin", Linear(0.2))
    trajectory = run(wheel(spring, speed=40.0), np.linspace(0, 3, 31))
    w = np.sqrt(0.2 / 0.05)
    np.testing.assert_allclose(trajectory["pin.spin"], 40 / w * np.sin(w * trajectory.ts), atol=1e-7)
    assert np.asarray(trajectory["pin.spin"]).max() > 2 * np.pi
    assert_balanced(trajectory)


def test_a_wheel_can_start_wound_up():
    system = mb.assemble(wheel())
    assert float(mb.initial_state(system, {"pin.spin": 9.0}).memory.spin[0]) == pytest.approx(9.0, abs=1e-12)


def test_dry_friction_stops_a_wheel_and_the_heat_is_counted():
    drag = mb.JointFriction("drag", "pin", "spin", viscous=0.0, dry=0.1, speed=1e-3)
    trajectory = run(wheel(drag, speed=2.0), np.linspace(0, 1.5, 16), steps=mb.Adaptive(rtol=1e-8))
    stop = 2.0 * 0.05 / 0.1
    t = np.asarray(trajectory.ts)
    expected = np.where(t < stop, 2.0 - 0.1 / 0.05 * t, 0.0)
    np.testing.assert_allclose(trajectory["pin.spin_rate"], expected, atol=5e-3)
    np.testing.assert_allclose(float(trajectory["energy.dissipated"][-1]), 0.5 * 0.05 * 4.0, rtol=1e-5)


def test_motor_with_rotor_behind_a_gear_feels_the_reflected_inertia():
    motor = mb.Motor("motor", "pin", "spin", Constant(0.3), gear=6.0, rotor_inertia=1e-3)
    trajectory = run(wheel(motor), [0, 1.0])
    acceleration = 6 * 0.3 / (0.05 + 36 * 1e-3)
    np.testing.assert_allclose(float(trajectory["pin.spin"][-1]), acceleration / 2, rtol=1e-9)
    assert_balanced(trajectory)


def test_a_gear_keeps_its_share_of_the_torque_in_both_directions_of_power():
    motor = mb.Motor("motor", "pin", "spin", Constant(0.3), gear=6.0, torque_constant=0.5, loss=0.2, loss_speed=1e-4)
    for speed, share in ((2.0, 0.8), (-9.0, 1.2)):
        trajectory = run(wheel(motor, speed=speed), [0, 0.1])
        gained = float(trajectory["pin.spin_rate"][-1]) - speed
        np.testing.assert_allclose(gained, share * 6 * 0.5 * 0.3 / 0.05 * 0.1, rtol=1e-6)
        assert float(trajectory["energy.dissipated"][-1]) > 0
        assert_balanced(trajectory)


def test_slow_motion_meets_breakaway_friction():
    for speed, torque in ((0.01, 0.15), (10.0, 0.1)):
        drag = mb.JointFriction("drag", "pin", "spin", dry=0.1, speed=1e-5, breakaway=0.05, stribeck_speed=1.0)
        trajectory = run(wheel(drag, speed=speed), [0, 1e-3])
        slowed = speed - float(trajectory["pin.spin_rate"][-1])
        np.testing.assert_allclose(slowed, torque / 0.05 * 1e-3, rtol=1e-3)
        assert_balanced(trajectory)


@pytest.mark.slow
def test_two_rotors_on_a_double_pendulum_match_lagrange():
    """Reflected inertias I_k on relative angles: M + I_1 e1 e1^T + I_2 (e2 - e1)(e2 - e1)^T in absolute angles."""
    l1, l2, m1, m2, g = 0.2, 0.3, 0.64, 0.56, 9.81
    i1, i2 = 36 * 1e-4, 16 * 2e-4
    mechanism = mb.library.double_pendulum(lengths=(l1, l2), masses=(m1, m2), angles=(1.0, 0.4)).add(
        mb.Motor("shoulder", "pin1", "spin", Constant(0.01), gear=6.0, rotor_inertia=1e-4),
        mb.Motor("elbow", "pin2", "spin", Constant(0.02), gear=4.0, rotor_inertia=2e-4),
    )
    trajectory = run(mechanism, [0, 0.5])
    j1, j2 = m1 * l1**2 / 12, m2 * l2**2 / 12

    def slope(t, y):
        a, b, u, w = y
        c, s = m2 * l1 * l2 / 2 * np.cos(a - b), m2 * l1 * l2 / 2 * np.sin(a - b)
        mass = np.array([[j1 + m1 * l1**2 / 4 + m2 * l1**2 + i1 + i2, c - i2], [c - i2, j2 + m2 * l2**2 / 4 + i2]])
        force = [
            -s * w * w - g * (m1 * l1 / 2 + m2 * l1) * np.sin(a) + 0.06 - 0.08,
            s * u * u - g * m2 * l2 / 2 * np.sin(b) + 0.08,
        ]
        return [u, w, *np.linalg.solve(mass, force)]

    y = solve_ivp(slope, (0, 0.5), [1.0, 0.4, 0, 0], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    found = [
        1.0 + float(trajectory["pin1.spin"][-1]),
        0.4 + float(trajectory["pin1.spin"][-1] + trajectory["pin2.spin"][-1]),
    ]
    np.testing.assert_allclose(found, y[:2], atol=1e-9)
    assert_balanced(trajectory)


def test_driver_torque_is_the_inertia_torque():
    mechanism = mb.library.pendulum(length=0.3, mass=2.0, inertia=INERTIA, angle=0.0).add(
        mb.Driver("shaker", "pin", "spin", Harmonic(0.4, 2.0))
    )
    trajectory = run(mechanism, np.linspace(0, 0.7, 8))
    angle, _, acceleration = jax.vmap(lambda t: jnp.stack(rates(Harmonic(0.4, 2.0), t)))(trajectory.ts).T
    np.testing.assert_allclose(trajectory["pin.spin"], angle, atol=1e-10)
    expected = (0.05 + 2 * 0.09) * acceleration + 2 * 9.81 * 0.3 * jnp.sin(angle)
    np.testing.assert_allclose(trajectory["shaker.force"], expected, atol=1e-8)
    assert_balanced(trajectory, 1e-6)


def test_measured_torque_bends_exactly_at_its_knots():
    table = Table([0.0, 0.2, 0.21, 0.6, 1.0], [0.0, 1.0, -2.0, 0.5, 0.0])
    trajectory = run(wheel(mb.JointForce("push", "pin", "spin", table)), [0, 1.0], steps=mb.Adaptive(rtol=1e-6))
    t, f = np.asarray(table.times), np.asarray(table.values)
    area = np.sum(np.diff(t) * (f[1:] + f[:-1]) / 2)
    np.testing.assert_allclose(float(trajectory["pin.spin_rate"][-1]), area / 0.05, rtol=1e-12)


def test_spring_between_points_swings_like_an_oscillator():
    body = mb.SpatialBody("mass", 2.0, INERTIA, position=(1.3, 0, 0))
    spring = mb.SpringDamper("spring", "ground", "mass", Linear(50.0, 4.0, rest=1.0, preload=0.0))
    trajectory = run(mb.Mechanism("oscillator", [body], elements=[spring]), np.linspace(0, 2, 9))
    decay, w0 = 4.0 / 4, np.sqrt(25.0)
    w = np.sqrt(w0**2 - decay**2)
    t = np.asarray(trajectory.ts)
    expected = 1 + 0.3 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    np.testing.assert_allclose(trajectory["mass.position.x"], expected, atol=1e-9)
    assert_balanced(trajectory, 1e-7)


@pytest.mark.parametrize(
    "law",
    [Linear(3.0, preload=0.5), Polynomial([1.0, -2.0, 4.0], preload=0.2), Tabulated([-1, 0, 0.5, 2], [-3, 0, 1, 9])],
    ids=lambda x: type(x).__name__,
)
def test_stored_energy_is_the_integral_of_the_force(law):
    for x in (-1.5, -0.3, 0.0, 0.2, 1.1, 3.0):
        slope = jax.grad(lambda y: jnp.asarray(law.energy(y)))(x)
        np.testing.assert_allclose(slope, law.elastic(jnp.asarray(x)), atol=1e-12)
    assert float(law.energy(jnp.asarray(0.0))) == 0.0


@pytest.mark.parametrize("signal", [SmoothStep(1.0, 3.0, 0.5, 1.5), Table([0, 1, 2, 3.0], [0, 1, 0, 2.0], "spline")])
def test_driver_signals_are_smooth_in_acceleration(signal):
    for t in (0.4999999, 0.5, 0.5000001, 1.0, 1.5, 2.0):
        before, after = (np.asarray(rates(signal, t + e)) for e in (-1e-7, 1e-7))
        np.testing.assert_allclose(before, after, atol=1e-4)


def test_baumgarte_holds_the_constraints_loosely_and_projection_tightly():
    system = mb.assemble(mb.library.slider_crank_3d())
    state = mb.initial_state(system)
    ts = np.linspace(0, 2, 5)
    loose = mb.simulate(system, state, ts, steps=mb.Adaptive(rtol=1e-5), stabilisation=mb.Baumgarte())
    tight = mb.simulate(system, state, ts, steps=mb.Adaptive(rtol=1e-5))
    violation = np.asarray(loose["constraints.violation"]).max()
    assert 1e-10 < violation < 1e-4
    assert np.asarray(tight["constraints.violation"]).max() < 1e-13
    np.testing.assert_allclose(loose["slider.position.x"], tight["slider.position.x"], atol=1e-3)


def test_initial_state_holds_what_it_is_given_and_is_differentiable():
    system = mb.assemble(mb.library.slider_crank_3d())

    def slider(angle):
        return mb.initial_state(system, {"A.spin": angle}, {"A.spin": 2.0}).q.position[2, 0]

    def closed_form(a):
        y, z = 0.1 - 0.08 * jnp.sin(a), 0.12 + 0.08 * jnp.cos(a)
        return jnp.sqrt(0.09 - y * y - z * z)

    np.testing.assert_allclose(slider(0.7), closed_form(0.7), atol=1e-12)
    np.testing.assert_allclose(jax.grad(slider)(0.7), jax.grad(closed_form)(0.7), atol=1e-9)
    np.testing.assert_allclose(jax.jacfwd(slider)(0.7), jax.grad(closed_form)(0.7), atol=1e-9)


def test_initial_state_that_cannot_be_fails_with_the_residual_of_each_connection():
    system = mb.assemble(mb.library.slider_crank_3d())
    with pytest.raises(mb.SimulationError, match=r"(?s)Residual per connection.*slider\.position\.x = 5"):
        mb.initial_state(system, {"slider.position.x": 5.0})


def test_marker_acceleration_is_that_of_its_point():
    mechanism = wheel(
        mb.Marker("tip", "bob", (0.5, 0, 0)), mb.Driver("turn", "pin", "spin", ConstantSpeed(3.0)), speed=3.0
    )
    trajectory = run(mechanism, np.linspace(0, 1, 5))
    radial = np.asarray(trajectory["tip.acceleration_local.x"])
    np.testing.assert_allclose(radial, -0.5 * 9.0, atol=1e-9)
    np.testing.assert_allclose(trajectory["tip.angular_velocity.z"], 3.0, atol=1e-10)


def test_a_zero_mobility_mechanism_and_a_loose_body_say_so():
    stuck = mb.Mechanism(
        "stuck",
        [mb.SpatialBody("block", 1.0, INERTIA)],
        [mb.Connection("weld", mb.frame(), journal="block", realisation=mb.Rigid())],
    )
    with pytest.warns(mb.ModelWarning, match="no degree of freedom"):
        mb.assemble(stuck)
    with pytest.warns(mb.ModelWarning, match="`stray` hangs on nothing"):
        mb.assemble(mb.library.pendulum().add(mb.SpatialBody("stray", 1.0, INERTIA)))


@pytest.mark.slow
def test_trajectory_is_saved_loaded_and_written(tmp_path):
    trajectory = run(wheel(speed=1.0), np.linspace(0, 1, 5))
    trajectory.save(tmp_path / "run.npz")
    again = mb.Trajectory.load(tmp_path / "run.npz")
    assert np.array_equal(again["pin.spin"], trajectory["pin.spin"])
    trajectory.to_csv(tmp_path / "run.csv", ["pin.spin", "energy.total"])
    table = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 1], trajectory["pin.spin"])
    with pytest.raises(KeyError, match=r"Did you mean `pin\.spin`"):
        trajectory["pin.spinn"]


@pytest.mark.slow
def test_custom_rows_make_a_screw():
    """One own row ties sliding to turning: pitch 0.01 m per radian."""

    def screw(displacement, rotation, t, values):
        return displacement[2] - values[0] * jnp.arctan2(rotation[1, 0], rotation[0, 0])

    joint = mb.CustomRows(mb.Cylindrical(), ("pitch",), screw, [0.01], owned=("axial",))
    body = mb.SpatialBody("nut", 1.5, INERTIA)
    pin = mb.Connection("pin", mb.frame((0, 0, 0), (0, 0, 1)), journal="nut", realisation=joint)
    trajectory = run(mb.Mechanism("screw", [body], [pin], elements=[mb.Gravity((0, 0, -9.81))]), [0, 0.1])
    acceleration = -9.81 * 1.5 * 0.01 / (0.05 + 1.5 * 0.01**2)
    np.testing.assert_allclose(float(trajectory["pin.spin_rate"][-1]), 0.1 * acceleration, rtol=1e-9)
