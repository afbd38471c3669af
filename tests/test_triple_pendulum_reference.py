"""P1's triple pendulum with stops against 21 point masses in four joint coordinates, integrated by SciPy with located
events.

Every body stands as seven points that together have its mass, centre and inertia: one in the centre and one 1 m from it
on either side along each axis. So there are no Euler equations and no constraints here, only points and their partial
velocities (Kane).
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbjax as mb

ARM = np.concatenate([np.zeros((3, 1)), np.eye(3), -np.eye(3)], axis=1)  # m, points of a body from its centre


def point_masses(mass, along, across):
    """Points with moment of inertia `along` about x and `across` about y and z: 2 (m_y + m_z) and 2 (m_x + m_z)."""
    aside = along / 4
    ends = [across / 2 - aside, aside, aside]
    return [mass - 2 * sum(ends), *ends, *ends]


MASSES = np.array([(0.10, 3e-3, 3e-2), (0.04, 1.2e-3, 1.2e-2), (0.02, 0.6e-3, 0.6e-2)])
POINTS = np.concatenate([point_masses(*row) for row in MASSES])
WEIGHT = np.array([[0], [0], [-9.81]])
STOPS = {1: (0.25, 1e5), 3: (np.pi / 4, 1e3)}  # limit and stiffness, by coordinate
NAMES = {1: "C2: axial", 3: "R3: spin"}
COORDINATES = ["R1.spin", "C2.axial", "C2.spin", "R3.spin"]


def skew(a):
    x, y, z = a.tolist()
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


Y = np.array([0, 1.0, 0])
SKEW_Y = skew(Y)


def motion(q, u):
    """Points r (3, 21), their partial velocities (4, 3, 21), and their accelerations without second derivatives of q.

    q: turn of body 1 about y, slide and turn of body 2 along z of body 1, turn of body 3 about h.
    """
    (c1, _, c2, c3), (s1, _, s2, s3) = np.cos(q), np.sin(q)
    x1, z = np.array([c1, 0, -s1]), np.array([s1, 0, c1])
    x2, y2 = c2 * x1 + s2 * Y, c2 * Y - s2 * x1
    h, g = (y2 + z) * np.sqrt(0.5), (y2 - z) * np.sqrt(0.5)
    x3, y3 = c3 * x2 + s3 * g, c3 * g - s3 * x2
    pin = 0.6 * x1 + q[1] * z
    elbow = pin + 0.6 * x2
    r = np.empty((3, 21))
    centres, axes = (0.3 * x1, pin + 0.3 * x2, elbow + 0.3 * x3), ((x1, Y, z), (x2, y2, z), (x3, y3, h))
    for k in range(3):
        r[:, 7 * k : 7 * k + 7] = centres[k][:, None] + np.array(axes[k]).T @ ARM
    skew_z, skew_h = skew(z), skew(h)
    from_pin, from_elbow = r[:, 7:] - pin[:, None], r[:, 14:] - elbow[:, None]
    partial = np.zeros((4, 3, 21))
    partial[0] = SKEW_Y @ r
    partial[1, :, 7:] = z[:, None]
    partial[2, :, 7:] = skew_z @ from_pin
    partial[3, :, 14:] = skew_h @ from_elbow
    # Angular velocities as matrices; the field of a body gives the accelerations of its points from its own rate.
    w1 = u[0] * SKEW_Y
    w2 = w1 + u[2] * skew_z
    w3 = w2 + u[3] * skew_h
    turn2 = w1 @ (u[2] * z)
    turn3 = turn2 + w2 @ (u[3] * h)
    field1, field2, field3 = w1 @ w1, skew(turn2) + w2 @ w2, skew(turn3) + w3 @ w3
    acceleration = field1 @ r
    at_pin = field1 @ pin + 2 * u[1] * (w1 @ z)
    acceleration[:, 7:] = at_pin[:, None] + field2 @ from_pin
    acceleration[:, 14:] = (at_pin + field2 @ (elbow - pin))[:, None] + field3 @ from_elbow
    return r, partial, acceleration


def equations(q, u, points=POINTS):
    """Mass matrix and generalised forces, stops apart."""
    _, partial, acceleration = motion(q, u)
    momentum = (partial * points).reshape(4, 63)
    return momentum @ partial.reshape(4, 63).T, momentum @ (WEIGHT - acceleration).ravel()


def energy(q, u):
    r, partial, _ = motion(q, u)
    velocity = np.tensordot(u, partial, 1)
    return np.sum(POINTS * (0.5 * velocity**2 - WEIGHT * r))


def lankarani_nikravesh(restitution):
    """P1 43 with its clip of the rate ratio, cut at 0. (The clip's other half is for slower touches.)"""

    def force(stiffness, depth, rate, touch_speed):
        ratio = min(rate / touch_speed, 1.0)
        return max(stiffness * max(depth, 0.0) ** 1.5 * (1 + 0.75 * (1 - restitution**2) * ratio), 0.0)

    return force


def kelvin_voigt(restitution):
    """P1 54."""

    def force(stiffness, depth, rate, touch_speed):
        r = min(max(rate / 0.1, 0.0), 1.0)
        return stiffness * max(depth, 0.0) * (restitution + (1 - restitution) * r * r * (3 - 2 * r))

    return force


def rates(x, contacts, law, points=POINTS, stops=STOPS):
    """Rates of (q, u); `contacts` holds side and speed at touch of the stops that are touched."""
    mass, force = equations(x[:4], x[4:], points)
    for k, (side, speed) in contacts.items():
        limit, stiffness = stops[k]
        force[k] -= side * law(stiffness, side * x[k] - limit, side * x[4 + k], speed)
    return np.concatenate([x[4:], np.linalg.solve(mass, force)])


def event_located(law, outputs, rtol, points=POINTS, stops=STOPS):
    """Integrate from rest: `(q and u at outputs, events)` with events (time, kind, stop, speed)."""
    x, t, contacts, events = np.zeros(8), outputs[0], {}, []
    found = np.full((outputs.size, 8), np.nan)
    while t < outputs[-1]:

        def guard(k):
            side = contacts[k][0] if k in contacts else None

            def depth(t, x):
                return (abs(x[k]) if side is None else side * x[k]) - stops[k][0]

            depth.terminal, depth.direction = True, 1 if side is None else -1
            return depth

        run = solve_ivp(
            lambda t, x: rates(x, contacts, law, points, stops), (t, outputs[-1]), x, method="DOP853", rtol=rtol,
            atol=1e-2 * rtol, events=[guard(k) for k in stops], dense_output=True, max_step=5e-3,
        )  # fmt: skip
        missed = [NAMES[k] for k in stops if k not in contacts and np.abs(run.y[k]).max() > stops[k][0] + 1e-12]
        assert run.success and not missed, f"after {t} s: {run.message} Stepped over a touch: {missed}"
        here = (outputs >= t) & (outputs <= run.t[-1])
        if here.any():
            found[here] = run.sol(outputs[here]).T
        t, x = run.t[-1], run.y[:, -1]
        for k, times in zip(stops, run.t_events, strict=True):
            if times.size:
                kind = "release" if k in contacts else "touch"
                side, _ = contacts.pop(k) if k in contacts else contacts.setdefault(k, (np.sign(x[k]), abs(x[4 + k])))
                events.append((t, kind, f"{NAMES[k]} {'upper' if side > 0 else 'lower'} stop", abs(x[4 + k])))
    return found, events


def test_reference_pendulum_has_the_printed_inertias_and_keeps_its_energy(random):
    assert (POINTS > 0).all()
    for (mass, along, across), points in zip(MASSES, POINTS.reshape(3, 7), strict=True):
        inertia = points @ (ARM**2).sum(axis=0) * np.eye(3) - points * ARM @ ARM.T
        np.testing.assert_allclose(points.sum(), mass, rtol=1e-14)
        np.testing.assert_allclose(inertia, np.diag([along, across, across]), rtol=1e-14, atol=1e-18)
    h = 1e-6
    for _ in range(20):
        x = random.normal(size=8)
        (before, *_), (r, partial, _), (after, *_) = (motion(x[:4] + k * h * x[4:], x[4:]) for k in (-1, 0, 1))
        np.testing.assert_allclose((after - before) / (2 * h), np.tensordot(x[4:], partial, 1), atol=1e-8)
        later, earlier = (energy(*np.split(x + k * h * rates(x, {}, None), 2)) for k in (1, -1))
        assert abs(later - earlier) / (2 * h) < 1e-8 * POINTS @ np.abs(r).sum(axis=0)


@pytest.mark.parametrize(
    ("stops", "restitution", "law", "end", "switches"),
    [
        pytest.param("impact", 0.75, lankarani_nikravesh, 4.0, 20, marks=pytest.mark.slow),
        pytest.param("kelvin_voigt", 0.01, kelvin_voigt, 4.0, 26, marks=pytest.mark.long),
        pytest.param("kelvin_voigt", 0.0, kelvin_voigt, 1.2, 4, marks=pytest.mark.long),
    ],
    ids=["Lankarani-Nikravesh", "Kelvin-Voigt", "Kelvin-Voigt that returns nothing"],
)
def test_triple_pendulum_with_stops_follows_the_event_located_reference(stops, restitution, law, end, switches):
    """The whole 4 s of P1's figures (1.2 s where the reference alone would take half a minute). References with other
    tolerances and steps agree to 1e-10 at the end, so errors hardly grow and all of it can be asked for to 1e-6."""
    outputs = np.linspace(0, end, 41)
    found, events = event_located(law(restitution), outputs, rtol=1e-13 if stops == "impact" else 1e-12)
    assert len(events) == switches
    system = mb.assemble(mb.library.triple_pendulum(stops=stops, restitution=restitution))
    start = mb.initial_state(system)
    run = mb.simulate(system, start, outputs, steps=mb.Adaptive(rtol=1e-11), events=50)

    np.testing.assert_allclose(run[COORDINATES], found[:, :4], rtol=1e-6, atol=1e-12)
    speeds = np.asarray(run[[f"{name}_rate" for name in COORDINATES]])
    np.testing.assert_allclose(
        speeds / np.ptp(found[:, 4:], axis=0), found[:, 4:] / np.ptp(found[:, 4:], axis=0), atol=1e-6
    )
    centres = np.array([motion(*np.split(x, 2))[0][:, ::7] for x in found])
    for k in range(3):
        mine = np.asarray(run[[f"body{k + 1}.position.{c}" for c in "xyz"]])
        np.testing.assert_allclose(mine, centres[:, :, k], atol=1e-6)

    table = run.events.table()
    assert [(e["event"], f"{e['connection']}: {e['point']}") for e in table] == [e[1:3] for e in events]
    np.testing.assert_allclose([e["time"] for e in table], [e[0] for e in events], atol=1e-8)
    touch_speeds = [(mine["speed"], e[3]) for mine, e in zip(table, events, strict=True) if e[1] == "touch"]
    np.testing.assert_allclose(*np.transpose(touch_speeds), rtol=1e-6)

    lost = energy(np.zeros(4), np.zeros(4)) - energy(*np.split(found[-1], 2))  # all stops are free at the end
    np.testing.assert_allclose(run["energy.dissipated"][-1], lost, rtol=1e-6)
    assert np.ptp(run["energy.balance"]) < 1e-9 * lost
