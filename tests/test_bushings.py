"""Bushings: closed forms, energy, the limits of their branches, and joints mixed with them."""

import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb


def test_maxwell_bushing_has_the_closed_form_of_its_dynamic_stiffness():
    k0, k1, c, tau = 2e5, 3e5, 40.0, 4e-3
    branch = mb.Maxwell([0, 0, k1, 0, 0, 0], tau)
    bushing = mb.Bushing([1, 1, k0, 1, 1, 1], damping=[0, 0, c, 0, 0, 0], branches=[branch])
    frequency = np.array([0.01, 1.0, 40.0, 1000.0])
    w = 2 * np.pi * frequency
    expected = k0 + 1j * w * c + k1 * 1j * w * tau / (1 + 1j * w * tau)
    found = mb.bushing_rig(bushing, "b", [1e-4, 1e-3], frequency)
    for row in range(2):
        np.testing.assert_allclose(found.dynamic_stiffness[row], np.abs(expected), rtol=1e-6)
        np.testing.assert_allclose(found.loss_angle[row], np.angle(expected), rtol=1e-6)


def test_bouc_wen_is_stiff_when_small_and_loses_its_limit_when_large():
    branch = mb.BoucWen([0, 0, 1e5, 0, 0, 0], [0, 0, 50.0, 0, 0, 0], shape=1.0)
    bushing = mb.Bushing([0, 0, 1e4, 0, 0, 0], branches=[branch])
    found = mb.bushing_rig(bushing, "b", [1e-6, 1e-1], [1.0, 7.0])
    np.testing.assert_allclose(found.dynamic_stiffness[0], 1.1e5, rtol=2e-2)
    np.testing.assert_allclose(found.dynamic_stiffness[1], 1e4, rtol=0.1)
    np.testing.assert_allclose(found.energy_per_cycle[1], 4 * 50.0 * 1e-1, rtol=3e-2)
    np.testing.assert_allclose(found.dynamic_stiffness[:, 0], found.dynamic_stiffness[:, 1], rtol=1e-6)


def bushed(**options):
    body = mb.SpatialBody("body", 1.0, (0.01, 0.02, 0.03), velocity=(0.1, 0.2, -0.1), angular_velocity=(3.0, 1.0, 2.0))
    joint = mb.Connection("mount", mb.frame((0.02, 0, 0), (0, 0, 1)), journal="body", realisation=mb.Bushing(**options))
    return mb.assemble(mb.Mechanism("mounted", [body], [joint]))


def test_a_coupled_bushing_keeps_energy_through_large_rotations(random):
    root = random.normal(size=(6, 6)) * np.array([30, 30, 30, 1, 1, 1])
    system = bushed(stiffness=root.T @ root + np.diag([500, 500, 500, 2, 2, 2]), preload=[1, 2, 3, 0.1, 0.2, 0.3])
    run = mb.simulate(system, mb.initial_state(system), np.linspace(0, 2, 9), steps=mb.Adaptive(rtol=1e-10))
    assert float(jnp.abs(run["mount.tilt"]).max()) > 0.1
    assert np.ptp(np.asarray(run["energy.total"])) < 1e-8


def test_bushing_branches_dissipate_and_the_books_balance():
    branches = [
        mb.Maxwell([500.0] * 3 + [1.0] * 3, 0.02), mb.BoucWen([800.0] * 3 + [1.0] * 3, [2.0] * 3 + [0.05] * 3),
        mb.Curve("radial", mb.element.characteristic.Polynomial([0.0, 0.0, 1e5])),
    ]  # fmt: skip
    system = bushed(stiffness=[500.0] * 3 + [2.0] * 3, damping=[1.0] * 3 + [0.01] * 3, branches=branches)
    run = mb.simulate(system, mb.initial_state(system), np.linspace(0, 1, 21), steps=mb.Adaptive(rtol=1e-9))
    lost = np.asarray(run["energy.dissipated_bushing"])
    assert (np.diff(lost) > 0).all()
    assert np.ptp(np.asarray(run["energy.balance"])) < 1e-6 * lost[-1]


@pytest.mark.slow
def test_a_stiff_bushing_tends_to_the_perfect_joint():
    def swing(realisation, rtol):
        system = mb.assemble(mb.library.pendulum().replace("pin", realisation))
        run = mb.simulate(system, mb.initial_state(system), [0.0, 0.3], steps=mb.Adaptive(rtol=rtol))
        return float(run["bob.position.x"][-1])

    exact = swing(mb.Revolute(), 1e-9)
    errors = []
    for stiffness in (1e5, 1e6):
        stiff = mb.Bushing([stiffness] * 5 + [0.0], damping=[50.0] * 5 + [0.0])
        errors.append(abs(swing(stiff, 1e-8) - exact))
    assert errors[1] < 0.2 * errors[0] < 1e-3


def test_mixed_joints_own_each_motion_once():
    radial = mb.Bushing([1e5, 1e5, 0, 0, 0, 0], holds=("radial",))
    mixed = mb.Mixed(("axial", "tilt"), [radial])
    assert mixed.motions() == {"radial": "bushing", "axial": "constrained", "tilt": "constrained", "spin": "free"}
    with pytest.raises(ValueError, match="radial motion is owned by"):
        mb.Mixed(("radial",), [radial])
    twin = mb.perfect(mb.library.pendulum().replace("pin", mixed))
    assert mb.assemble(twin).degrees_of_freedom == 1


def test_a_bushing_on_the_rig_feels_what_the_component_test_says():
    branch = mb.Maxwell([0, 0, 1e5, 0, 0, 0], 5e-3)
    bushing = mb.Bushing([8e5, 8e5, 2e5, 40.0, 40.0, 5.0], damping=[0, 0, 20.0, 0, 0, 0], branches=[branch])
    rig = mb.bushing_rig(bushing, "b", [1e-3], [10.0])
    system = mb.assemble(mb.library.bushing_rig(bushing, amplitude=1e-3, frequency=10.0))
    ts = np.linspace(0.5, 0.6, 257)[:-1]
    run = mb.simulate(system, mb.initial_state(system), np.append(0.0, ts), steps=mb.Adaptive(rtol=1e-9))
    force = -np.asarray(run["mount.reaction.x"])[1:]
    first = 2j / 256 * np.sum(force * np.exp(-2j * np.pi * 10 * ts)) / 1e-3
    np.testing.assert_allclose(abs(first), rig.dynamic_stiffness[0, 0], rtol=1e-5)
    np.testing.assert_allclose(np.angle(first), rig.loss_angle[0, 0], rtol=1e-4)
