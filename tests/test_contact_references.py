"""Contact in mechanisms against formulations of its own in NumPy, integrated by SciPy with located events."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from experiments.planar_reference import CLEARANCE, CRANK, REVOLUTION, ROD, SPEED, Numbers, event_located, motion
from mbjax.dynamics import accelerations
from mbjax.law import Points
from mbjax.state import Coordinates, Memory, Rates


def build(friction=None):
    system = mb.assemble(mb.library.planar_slider_crank_clearance(friction=friction))
    return system, mb.initial_state(system)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "friction", "revolutions"),
    [(None, 0.0, 0.9), (mb.Ambrosio(0.03, 1e-4, 1e-3), 0.03, 0.8)],
    ids=["frictionless", "friction"],
)
def test_planar_slider_crank_follows_the_event_located_reference(law, friction, revolutions):
    end = revolutions * REVOLUTION
    outputs = np.linspace(0, end, 19)
    expected = event_located(outputs, Numbers(friction=friction))
    touches = expected.touches
    system, state = build(law)
    trajectory = mb.simulate(system, state, outputs, steps=mb.Adaptive(rtol=1e-11), events=100)
    np.testing.assert_allclose(trajectory["slider.position.x"], expected.states[:, 1], rtol=1e-6)
    log = trajectory.events
    rows = log.rows("touch")[:4]
    np.testing.assert_allclose(log.log.time[rows], touches[:4, 0], atol=1e-9)
    np.testing.assert_allclose(log.log.speed[rows], touches[:4, 1], rtol=1e-6)
    balance = np.asarray(trajectory["energy.balance"])
    assert np.ptp(balance) < 1e-6 * float(trajectory["energy.dissipated"][-1])
    assert abs(touches[0][0] - 0.000227286032) < 1e-12 and abs(touches[0][1] - 4.385783) < 1e-6
    if law is None:
        published = [0.00063705643, 0.00074970028, 0.00108594703]
        np.testing.assert_allclose(log.log.time[rows[1:]], published, atol=1e-9)


def stepped(end, flight, accept=np.inf, contact=2e-7):
    """P2's mechanism in equal Runge-Kutta steps of `flight` (s), `contact` where something touches. A touch is where a
    step has ended inside the wall; one deeper than `accept` (m) is taken again in half the step (P2, under (31)).
    Returns the state and (time, speed, depth) of the touches."""
    x, t, touch, h, touches = np.array([0.0, CRANK + ROD, -SPEED * CRANK / ROD, 0.0]), 0.0, None, flight, []

    def rates(t, x):
        return np.array(motion(t, x.tolist(), touch, Numbers())[0])

    while end - t > 1e-12:
        step = min(h if touch is None else contact, end - t)
        k = rates(t, x)
        m = rates(t + step / 2, x + step / 2 * k)
        n = rates(t + step / 2, x + step / 2 * m)
        new = x + step / 6 * (k + 2 * m + 2 * n + rates(t + step, x + step * n))
        _, depth, rate, _ = motion(t + step, new.tolist(), None, Numbers())
        if touch is None and depth > accept:
            h = step / 2
            continue
        t, x = t + step, new
        if touch is None and depth > 0:
            touch, h = rate, flight
            touches.append((t, rate, depth))
        elif touch is not None and depth < 0:
            touch = None
    return x, np.array(touches)


def test_motion_depends_on_how_contact_is_detected():
    """P2's conclusions, "very sensitive to the procedure used to detect contact": reproduced with its own step of 1e-5
    s. In equal steps the journal is 12 um inside the wall before it is seen, the second touch comes 3.7 us late, and
    after .3 turn there is one touch too many (11) and the slider is .25 m/s off. Steps that are rejected until the
    first depth is below 1 um (P2's strategy) leave .003 m/s, below 1 nm 8e-6 m/s."""
    end = 0.3 * REVOLUTION
    exact = event_located([0.0, end])
    off, seen = {}, {}
    for name, options in {"late": (1e-5,), "1 um": (1e-5, 1e-6), "1 nm": (1e-5, 1e-9)}.items():
        state, seen[name] = stepped(end, *options)
        off[name] = abs(state[3] - exact.states[-1, 3])
    assert len(exact.touches) == len(seen["1 nm"]) == len(seen["1 um"]) == 10 and len(seen["late"]) == 11
    assert seen["late"][0, 2] > 1e-5 and seen["late"][1, 0] - exact.touches[1, 0] > 3e-6
    assert off["1 nm"] < 2e-5 < 1e-3 < off["1 um"] < 1e-2 < 0.1 < off["late"]


@pytest.mark.slow
def test_steps_are_longer_in_flight_than_in_contact():
    """P2 figure 13b, steps are small in contact and larger in free flight: reproduced, 13 us against 210
    us on average in the first quarter of a turn (eight touches, rtol 1e-6)."""
    system, state = build()
    steps = mb.Adaptive(rtol=1e-6)
    table = mb.simulate(system, state, [0.0, 0.25 * REVOLUTION], steps=steps, events=60).events.table()
    counts = [int(mb.simulate(system, state, [0.0, e["time"]], steps=steps).statistics.accepted) for e in table]
    times, mean = np.diff([e["time"] for e in table]), {}
    for kind in ("touch", "release"):
        k = [i for i, e in enumerate(table[:-1]) if e["event"] == kind]
        mean[kind] = times[k].sum() / np.diff(counts)[k].sum()
    assert mean["release"] > 5 * mean["touch"]


@pytest.mark.long
def test_ten_turns_have_the_statistics_of_the_reference():
    """Twelve runs whose clearances differ by 1e-9. Own SciPy (flights in steps of 2e-6 s at most): 13.9 +- 2.0 contacts
    per turn, RMS acceleration 2.03e4 +- 0.10e4 over ten runs. In steps of 2e-5 s SciPy misses flights shorter than
    that and finds 6.7 and 1.33e4; REFERENCE_CASES.md lists 11.8 +- 2 and 1.89e4 +- 0.08e4."""
    system, state = build()
    ts = jnp.linspace(0.0, 10 * REVOLUTION, 20001)

    @jax.jit
    def run(clearance):
        bound = system.bind({"B.pair.clearance": clearance})
        trajectory = mb.simulate(bound, state, ts, steps=mb.Adaptive(rtol=1e-8), events=1000)
        return jnp.sum(trajectory.log.kind == 0) / 10, jnp.sqrt(jnp.mean(trajectory["slider.acceleration.x"] ** 2))

    contacts, size = np.array([run(CLEARANCE * (1 + k * 1e-9)) for k in range(12)]).T
    assert abs(contacts.mean() - 13.9) < 2.0 and contacts.std() < 4
    assert abs(size.mean() - 2.03e4) < 0.1e4


@pytest.mark.parametrize(
    "law", [mb.Frictionless(), mb.Ambrosio(0.03), mb.Threlfall(0.05, 2e-3)], ids=lambda x: type(x).__name__
)
def test_planar_right_hand_side_at_random_states(law, random):
    numbers = {
        "Frictionless": Numbers(),
        "Ambrosio": Numbers(friction=0.03),
        "Threlfall": Numbers(friction=0.05, curve=lambda v: np.tanh(v / 2e-3)),
    }[type(law).__name__]
    system, state = build(law)

    @jax.jit
    def rates(t, planar_q, planar_v, inverse):
        empty = state.q.position, state.q.orientation
        q, v = Coordinates(*empty, planar_q), Rates(state.v.velocity, state.v.angular, planar_v)
        points = Points(jnp.array([1]), inverse[None], jnp.zeros(1), jnp.zeros(1), jnp.zeros(1))
        memory = Memory(state.memory.spin, points)
        return accelerations(system.structure, system.model, q, v, state.internal, memory, t)[0].planar_rate

    for _ in range(60):
        t = random.uniform(0, REVOLUTION)
        phi = SPEED * t
        pin = CRANK * np.array([np.cos(phi), np.sin(phi)])
        depth, way = random.uniform(1e-7, 1e-5), random.uniform(0, 2 * np.pi)
        offset = (CLEARANCE + depth) * np.array([np.cos(way), np.sin(way)])
        angle = np.arcsin(-(offset + pin)[1] / ROD)
        slider = pin[0] + ROD * np.cos(angle) + offset[0]
        spin, speed, touch = random.normal(0, 200), random.normal(0, 10), random.uniform(0.5, 4)
        expected = np.array(motion(t, [angle, slider, spin, speed], touch, numbers)[0])
        u, w = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        pin_velocity = SPEED * np.array([-pin[1], pin[0]])
        q = np.array([[*(pin / 2), phi], [*(pin + ROD / 2 * u), angle], [slider, 0, 0]])
        v = np.array([[*(pin_velocity / 2), SPEED], [*(pin_velocity + ROD / 2 * spin * w), spin], [speed, 0, 0]])
        found = rates(t, q, v, jnp.array(1 / touch))
        scale = np.abs(expected[2:]).max()
        np.testing.assert_allclose([found[1, 2], found[2, 0]], expected[2:], rtol=1e-10, atol=1e-10 * scale)


# --- P3's four-bar, its equations written down in Cartesian coordinates with a dense KKT matrix --------------------


def quaternion_matrix(p):
    e0, e = p[0], p[1:]
    skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return (2 * e0**2 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * skew)


FOUR_BAR_FRICTION = {
    "frictionless": (mb.Frictionless(), lambda v: 0.0),
    "Ambrosio": (mb.Ambrosio(0.1), lambda v: 0.1 * np.clip((v - 1e-4) / 9e-4, 0, 1)),
    "Threlfall": (mb.Threlfall(0.1), lambda v: 0.1 * np.tanh(v / 1e-3)),
    "piecewise": (
        mb.PiecewiseLinear(0.1, 0.15),
        lambda v: 0.15 * v / 1e-4 if v <= 1e-4 else max(0.15 - (v - 1e-4) / 9e-4 * 0.05, 0.1),
    ),
    "Bengisu-Akay": (
        mb.BengisuAkay(0.1, 0.15),
        lambda v: 0.15 - 0.15 / 1e-8 * (v - 1e-4) ** 2 if v < 1e-4 else 0.1 + 0.05 * np.exp(-1000 * (v - 1e-4)),
    ),
}


def four_bar_accelerations(masses, inertias, placed, r, p, v, w, force_law):
    """Accelerations of crank, coupler and rocker; `placed` are points and axes in body coordinates."""
    a = [quaternion_matrix(x) for x in p]
    w_global = [a[k] @ w[k] for k in range(3)]
    rows, gamma = [], []

    def velocity_row(entries):
        row = np.zeros(18)
        for k, linear, angular in entries:
            row[6 * k : 6 * k + 3] += linear
            row[6 * k + 3 : 6 * k + 6] += angular
        return row

    def point(k, s):
        """Global arm, and the part of the acceleration that is not linear in accelerations."""
        arm = a[k] @ s
        return arm, np.cross(w_global[k], np.cross(w_global[k], arm))

    for k, s, axis in ((0, placed["crank_pivot"], placed["crank_axis"]), (2, placed["pivot"], placed["rocker_axis"])):
        arm, rest = point(k, s)
        for c in range(3):
            rows.append(velocity_row([(k, np.eye(3)[c], np.cross(arm, np.eye(3)[c]))]))
            gamma.append(-rest[c])
        b = a[k] @ axis
        fixed = np.linalg.svd(placed["axes"][k][None])[2][1:]
        for u in fixed:  # u . b = 0
            rows.append(velocity_row([(k, np.zeros(3), np.cross(b, u))]))
            gamma.append(-u @ np.cross(w_global[k], np.cross(w_global[k], b)))
    arm0, rest0 = point(0, placed["pin_crank"])
    arm1, rest1 = point(1, placed["pin_coupler"])
    for c in range(3):
        e = np.eye(3)[c]
        rows.append(velocity_row([(0, e, np.cross(arm0, e)), (1, -e, -np.cross(arm1, e))]))
        gamma.append(-(rest0 - rest1)[c])
    mass = np.zeros((18, 18))
    load = np.zeros(18)
    for k in range(3):
        inertia = a[k] @ np.diag(inertias[k]) @ a[k].T
        mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = masses[k] * np.eye(3)
        mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
        load[6 * k : 6 * k + 3] = [0, 0, -9.81 * masses[k]]
        load[6 * k + 3 : 6 * k + 6] = -np.cross(w_global[k], inertia @ w_global[k])
    arm_s, arm_b = a[1] @ placed["socket"], a[2] @ placed["ball"]
    gap = r[2] + arm_b - r[1] - arm_s
    n = gap / np.linalg.norm(gap)
    depth = np.linalg.norm(gap) - 0.2e-3
    on_socket, on_ball = arm_s + 0.010 * n, arm_b + 0.0098 * n
    relative = v[2] + np.cross(w_global[2], on_ball) - v[1] - np.cross(w_global[1], on_socket)
    rate = relative @ n
    slip = relative - rate * n
    push, share = force_law(depth, rate, np.linalg.norm(slip))
    force = -push * n - share * abs(push) * slip / np.linalg.norm(slip)
    load[12:15] += force
    load[15:18] += np.cross(on_ball, force)
    load[6:9] -= force
    load[9:12] -= np.cross(on_socket, force)
    jacobian = np.array(rows)
    zero = np.zeros((len(rows), len(rows)))
    solution = np.linalg.solve(np.block([[mass, jacobian.T], [jacobian, zero]]), np.concatenate([load, gamma]))
    return solution[:18].reshape(3, 6), depth


@pytest.mark.parametrize("name", FOUR_BAR_FRICTION)
def test_four_bar_right_hand_side_at_random_states(name, random):
    law, coefficient = FOUR_BAR_FRICTION[name]
    mechanism = mb.library.four_bar_clearance(friction=law)
    system = mb.assemble(mechanism)
    model = jax.tree.map(np.asarray, system.model)
    assert system.degrees_of_freedom == 5
    index = {c.name: k for k, c in enumerate(mechanism.connections)}
    stiffness = float(mechanism.value("joint.interface.normal.elastic.stiffness"))
    placed = {
        "crank_pivot": model.journal_point[index["crank_pivot"]],
        "crank_axis": model.journal_axes[index["crank_pivot"]][:, 2],
        "pivot": model.journal_point[index["rocker_pivot"]],
        "rocker_axis": model.journal_axes[index["rocker_pivot"]][:, 2],
        "axes": {0: np.array([1.0, 0, 0]), 2: np.array([0, 1.0, 0])},
        "pin_crank": model.bearing_point[index["crank_pin"]],
        "pin_coupler": model.journal_point[index["crank_pin"]],
        "socket": model.bearing_point[index["joint"]],
        "ball": model.journal_point[index["joint"]],
    }
    inertias = [np.diag(i) for i in model.inertia]
    run = jax.jit(functools.partial(_four_bar_rates, system))
    state = mb.initial_state(system)
    hits = 0
    while hits < 60:
        swing = mb.initial_state(
            system,
            positions={"crank_pivot.spin": float(random.uniform(-0.3, 0.3))},
            speeds={"crank_pivot.spin": float(random.normal(0, 3)), "rocker_pivot.spin": float(random.normal(0, 3))},
        )
        del state
        state = swing
        r, p = np.asarray(state.q.position).copy(), np.asarray(state.q.orientation)
        # Turn the rocker a little about its pivot so that the ball lies in the wall.
        depth_wanted, touch = random.uniform(1e-7, 3e-6), random.uniform(0.01, 0.1)
        a2 = quaternion_matrix(p[2])
        lever = a2 @ (placed["ball"] - placed["pivot"])
        turn = (0.2e-3 + depth_wanted) / np.linalg.norm(np.cross([0, 1, 0], lever))
        c, s = np.cos(turn), np.sin(turn)
        about = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        new = about @ a2
        pivot = r[2] + a2 @ placed["pivot"]
        r[2] = pivot - new @ placed["pivot"]
        p = p.copy()
        p[2] = np.asarray(_quaternion(new))
        v, w = np.asarray(state.v.velocity).copy(), np.asarray(state.v.angular)
        v[2] = -np.cross(new @ w[2], new @ placed["pivot"])

        def force_law(depth, rate, slip, touch=touch):
            return stiffness * depth**1.5 * (1 + 0.75 * (1 - 0.9**2) * rate / touch), coefficient(slip)

        expected, depth = four_bar_accelerations([0.0196, 0.1416, 0.0316], inertias, placed, r, p, v, w, force_law)
        if depth <= 0:
            continue
        hits += 1
        linear, angular = run(r, p, v, w, jnp.array(1 / touch))
        turned = np.array([quaternion_matrix(p[k]) @ angular[k] for k in range(3)])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(linear, expected[:, :3], rtol=1e-9, atol=1e-10 * scale)
        np.testing.assert_allclose(turned, expected[:, 3:], rtol=1e-9, atol=1e-10 * scale)


def _quaternion(matrix):
    from mbjax.rotation import from_matrix

    return from_matrix(matrix)


def _four_bar_rates(system, r, p, v, w, inverse):
    none = jnp.zeros((0, 3))
    points = Points(jnp.array([1]), inverse[None], jnp.zeros(1), jnp.zeros(1), jnp.zeros(1))
    memory = Memory(jnp.zeros(4), points)
    q, rates = Coordinates(jnp.asarray(r), jnp.asarray(p), none), Rates(jnp.asarray(v), jnp.asarray(w), none)
    solution, *_ = accelerations(system.structure, system.model, q, rates, jnp.zeros(0), memory, 0.0)
    return solution.velocity_rate, solution.angular_rate


@pytest.mark.long
def test_trust_horizon_finds_the_error_growth_of_the_frictionless_mechanism():
    """About e^8 per revolution (NUMERICS.md), so an error of 1e-8 is lost within a few revolutions."""
    system, state = build()
    trust = mb.trust_horizon(system, state, np.linspace(0, 3 * REVOLUTION, 31), steps=mb.Adaptive(rtol=1e-8))
    assert 5 < float(trust.rate) * REVOLUTION < 12
    assert REVOLUTION < float(trust.horizon) < 2.5 * REVOLUTION
    assert "can be trusted to 0.01 up to" in str(trust)
