"""Equilibrium, quasi-static paths and linearisation against closed forms, values and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from mbjax.element.characteristic import Linear
from mbjax.signal import Constant

G, M, L, J, K = 9.81, 2.0, 0.4, 0.05, 30.0


def sprung_pendulum():
    """A hinged bar with a torsional spring, horizontal when the spring is relaxed."""
    mechanism = mb.library.pendulum(length=L, mass=M, inertia=(J, J, J), angle=np.pi / 2)
    return mechanism.add(
        mb.JointSpring("coil", "pin", "spin", Linear(K, damping_coefficient=0.2)),
        mb.JointForce("push", "pin", "spin", Constant(0.0)),
    )


def sag():
    """Root of K x = M G L cos x, the angle below the horizontal."""
    x = 0.0
    for _ in range(60):
        x -= (K * x - M * G * L * np.cos(x)) / (K + M * G * L * np.sin(x))
    return x


def test_sprung_pendulum_sags_to_the_closed_form():
    system = mb.assemble(sprung_pendulum())
    rest = mb.equilibrium(system)
    np.testing.assert_allclose(float(rest.memory.spin[0]), -sag(), atol=1e-10)


@pytest.mark.slow
def test_derivative_of_the_sag_by_stiffness():
    system = mb.assemble(sprung_pendulum())

    def angle(k):
        return mb.equilibrium(system.bind({"coil.characteristic.stiffness": k})).memory.spin[0]

    x = sag()
    expected = x / (K + M * G * L * np.sin(x))  # d(-x)/dK
    np.testing.assert_allclose(jax.grad(angle)(K), expected, atol=1e-8)
    np.testing.assert_allclose(jax.jacfwd(angle)(K), expected, atol=1e-8)


def test_equilibrium_is_the_stable_one():
    system = mb.assemble(mb.library.pendulum(length=L, mass=M, inertia=(J, J, J), angle=2.5))
    rest = mb.equilibrium(system)
    np.testing.assert_allclose(rest.q.position[0], [0, -L, 0], atol=1e-10)


def test_frequency_and_damping_of_a_compound_pendulum():
    system = mb.assemble(sprung_pendulum())
    x = sag()
    linear = mb.linearize(system, mb.equilibrium(system))
    inertia = J + M * L**2
    stiffness = K + M * G * L * np.sin(x)
    np.testing.assert_allclose(linear.frequencies, [np.sqrt(stiffness / inertia)], rtol=1e-10)
    np.testing.assert_allclose(linear.damping_ratios, [0.2 / (2 * np.sqrt(stiffness * inertia))], rtol=1e-10)
    assert float(linear.residual) < 1e-9


@pytest.mark.slow
def test_frequency_response_of_a_compound_pendulum():
    system = mb.assemble(sprung_pendulum())
    linear = mb.linearize(system, mb.equilibrium(system))
    frequencies = np.array([0.0, 0.5, 2.0])
    w = 2 * np.pi * frequencies
    stiffness = K + M * G * L * np.sin(sag())
    expected = 1 / (stiffness - w**2 * (J + M * L**2) + 0.2j * w)
    np.testing.assert_allclose(linear.frequency_response("push", "pin.spin", frequencies), expected, rtol=1e-9)


@pytest.mark.long
def test_derivative_of_a_frequency_by_mass():
    system = mb.assemble(mb.library.pendulum(length=L, mass=M, inertia=(J, J, J), angle=0.0))

    def frequency(m):
        bound = system.bind({"bob.mass": m})
        return mb.linearize(bound, mb.equilibrium(bound)).frequencies[0]

    np.testing.assert_allclose(frequency(M), np.sqrt(M * G * L / (J + M * L**2)), rtol=1e-10)
    h = J + M * L**2
    expected = 0.5 / np.sqrt(M * G * L / h) * (G * L / h - M * G * L * L**2 / h**2)
    np.testing.assert_allclose(jax.grad(frequency)(M), expected, rtol=1e-8)


def test_frequency_response_with_branches_of_a_bushing():
    """A carriage on a bushing with a damper, a Maxwell branch and a Bouc-Wen element that is small enough to stick."""
    m, k, c, stiff, relax, stuck = 3.0, 2e5, 30.0, 8e4, 2e-3, 5e4
    bushing = mb.Bushing(
        [8e5, 8e5, k, 40.0, 40.0, 5.0],
        damping=[0, 0, c, 0, 0, 0],
        branches=[
            mb.Maxwell([0, 0, stiff, 0, 0, 0], relax),
            mb.BoucWen([0, 0, stuck, 0, 0, 0], [0, 0, 100.0, 0, 0, 0]),
        ],
    )
    rig = mb.library.bushing_rig(bushing, mass=m).remove("shaker")
    system = mb.assemble(rig.add(mb.AppliedForce("push", "carriage", Constant(0.0), (1.0, 0.0, 0.0))))
    linear = mb.linearize(system, mb.equilibrium(system))
    frequencies = np.array([1.0, 20.0, 45.0, 50.0, 200.0])
    s = 2j * np.pi * frequencies
    dynamic = m * s**2 + c * s + k + stiff * s * relax / (1 + s * relax) + stuck
    found = linear.frequency_response("push", "carriage.position.x", frequencies)
    np.testing.assert_allclose(found, 1 / dynamic, rtol=1e-9)
    # The characteristic polynomial, (1 + s T) taken out of the denominator.
    roots = np.roots([m * relax, m + c * relax, c + (k + stuck + stiff) * relax, k + stuck])
    values = linear.eigenvalues
    assert all(np.abs(values - r).min() < 1e-8 * abs(r) for r in roots)
    with pytest.raises(mb.ModelError, match="eigenvalues"):
        _ = linear.damping_ratios


def test_frequencies_of_a_double_pendulum():
    l1, l2, m1, m2 = 0.2, 0.3, 0.64, 0.56
    system = mb.assemble(mb.library.double_pendulum(lengths=(l1, l2), masses=(m1, m2), angles=(0.1, -0.1)))
    linear = mb.linearize(system, mb.equilibrium(system))
    j1, j2 = m1 * l1**2 / 12, m2 * l2**2 / 12
    mass = np.array([[j1 + m1 * l1**2 / 4 + m2 * l1**2, m2 * l1 * l2 / 2], [m2 * l1 * l2 / 2, j2 + m2 * l2**2 / 4]])
    stiffness = G * np.diag([m1 * l1 / 2 + m2 * l1, m2 * l2 / 2])
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real))
    np.testing.assert_allclose(linear.frequencies, expected, rtol=1e-10)


def rig():
    """A lever driven at one end of a spring: ground - driven slide - spring - hinged bar."""
    mechanism = mb.library.pendulum(length=L, mass=M, inertia=(J, J, J), angle=0.0)
    carriage = mb.SpatialBody("carriage", 1.0, (1e-2, 1e-2, 1e-2), position=(0.5, -L, 0))
    slide = mb.Connection(
        "slide", mb.frame((0.5, -L, 0), (1, 0, 0), (0, 1, 0)), journal="carriage", realisation=mb.Translation()
    )
    return mechanism.add(
        carriage,
        slide,
        mb.Driver("ram", "slide", "axial", Constant(0.0)),
        mb.SpringDamper("link", "carriage", "bob", Linear(200.0, rest=0.5)),
    )


def test_quasi_static_path_balances_the_moment_at_every_step():
    path = mb.quasi_static(mb.assemble(rig()), {"ram": np.linspace(0, 0.2, 5)})
    angle = np.asarray(path["pin.spin"])
    shift = np.asarray(path["slide.axial"])
    np.testing.assert_allclose(shift, np.linspace(0, 0.2, 5), atol=1e-12)
    end = L * np.stack([np.sin(angle), -np.cos(angle)], axis=-1)
    other = np.stack([0.5 + shift, np.full(5, -L)], axis=-1)
    gap = other - end
    length = np.linalg.norm(gap, axis=-1)
    pull = 200.0 * (length - 0.5)[:, None] * gap / length[:, None]
    moment = end[:, 0] * (pull[:, 1] - M * G) - end[:, 1] * pull[:, 0]
    np.testing.assert_allclose(moment, 0, atol=1e-8)
    np.testing.assert_allclose(path["ram.force"], pull[:, 0], atol=1e-8)
    assert angle[-1] > 0.05


@pytest.mark.slow
def test_derivative_of_a_quasi_static_path_matches_differences():
    system = mb.assemble(rig())

    def last(k):
        bound = system.bind({"link.characteristic.stiffness": k})
        return mb.quasi_static(bound, {"ram": jnp.array([0.0, 0.2])})["pin.spin"][-1]

    h = 0.1
    difference = (8 * (last(200 + h) - last(200 - h)) - (last(200 + 2 * h) - last(200 - 2 * h))) / (12 * h)
    np.testing.assert_allclose(jax.jacfwd(last)(200.0), difference, atol=1e-8)


def _held_by(realisation, *elements, **options):
    body = mb.SpatialBody("mass", M, (J, J, J))
    mount = mb.Connection(
        "mount", mb.frame((0, 0, 0), axis=(0, 0, 1)), journal="mass", realisation=realisation, **options
    )
    return mb.Mechanism("held", [body], [mount], elements=[mb.Gravity((0.0, 0.0, -G)), *elements])


def test_rest_is_found_where_applied_forces_balance_without_constraints():
    """What is left of them at rest is rounding, and no measure of itself."""
    bushing = mb.Bushing([1e4, 1e4, 2e4, 10.0, 10.0, 10.0], preload=[0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
    stiff, axial_stop = 3e6, [mb.Stop("axial", mb.Impact(mb.Hertz(3e6), mb.HuntCrossley(0.5)), lower=1e-4)]
    depth = (M * G / stiff) ** (2 / 3)
    ball = mb.library.bouncing_ball(
        mass=M, radius=0.02, height=-1e-4, gravity=G, interface=mb.Dry(mb.Impact(mb.Hertz(stiff), mb.HuntCrossley(0.5)))
    )
    cases = (
        (_held_by(bushing), -(M * G + 5.0) / 2e4),
        (_held_by(mb.Translation(), stops=axial_stop), 1e-4 - depth),
        (ball, 0.02 - depth),
    )
    for mechanism, height in cases:
        system = mb.assemble(mechanism)
        rest = mb.equilibrium(system)
        np.testing.assert_allclose(rest.q.position[0, 2], height, rtol=1e-7)
    frequencies = np.asarray(mb.linearize(system, rest).frequencies)  # of the ball: only the plane holds it
    np.testing.assert_allclose(frequencies, [0] * 5 + [np.sqrt(1.5 * stiff * np.sqrt(depth) / M)], rtol=1e-6)


def test_nothing_at_rest_is_refused_where_nothing_holds():
    with pytest.raises(mb.SimulationError, match="No equilibrium"):
        mb.equilibrium(mb.assemble(_held_by(mb.Translation())))
