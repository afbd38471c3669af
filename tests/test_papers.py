"""P1 to P5: their cases over the papers' times, and what their results sections say: reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import numpy as np
import pytest

import mbjax as mb
from mbjax.library.dry import raw_impact

pytestmark = pytest.mark.slow

TURN = 0.012  # s, of P2's crank at 5000 rpm
PER_MM = 1000**1.5  # P1's stiffness read in N/mm^1.5


def hybrid():
    """P2's third case: squeeze film of SAE 40 (full film), fading over e0 into frictionless dry contact."""
    dry = mb.Dry(raw_impact(mb.hertz_stiffness(0.0095, -0.010), 0.9), mb.Frictionless())
    return mb.Hybrid(mb.SqueezeFilm(0.4, 0.04, extra=10e-6), dry, 5e-6)


def sphere(clearance, **options):
    return lambda: mb.library.slider_crank_3d_spherical_clearance(clearance=clearance, **options)


def cylinder(clearance, **options):
    return lambda: mb.library.slider_crank_3d_revolute_clearance(clearance=clearance, **options)


def planar(**options):
    return lambda: mb.library.planar_slider_crank_clearance(**options)


def four_bar(friction=None, clearance=0.2e-3):
    return lambda: mb.library.four_bar_clearance(clearance=clearance, friction=friction)


def marques(friction=None, axial=0.5e-3):
    return lambda: mb.library.marques_slider_crank_clearance(axial_clearance=axial, friction=friction)


# name: (builder, end time of the paper in s, outputs). P2 shows two turns of the steady state: here the third and fourth.
CASES = {
    "P1 ideal": (mb.library.slider_crank_3d, 5.0, 1001),
    "P1 sphere 0": (sphere(0.0), 5.0, 1001),
    "P1 sphere 1 um": (sphere(1e-6), 5.0, 1001),
    "P1 sphere .1 mm": (sphere(1e-4), 5.0, 1001),
    "P1 sphere 1 mm": (sphere(1e-3), 5.0, 1001),
    "P1 triple pendulum, Lankarani-Nikravesh": (lambda: mb.library.triple_pendulum(stops="impact"), 4.0, 1001),
    "P1 triple pendulum, Kelvin-Voigt": (lambda: mb.library.triple_pendulum(stops="kelvin_voigt"), 4.0, 1001),
    "P2 ideal": (mb.library.planar_slider_crank, 4 * TURN, 2001),
    "P2 dry": (planar(), 4 * TURN, 2001),
    "P2 friction": (planar(friction=mb.Ambrosio(0.03, 1e-4, 1e-3)), 4 * TURN, 2001),
    "P2 hybrid": (planar(interface=hybrid()), 4 * TURN, 2001),
    "P3 ideal": (mb.library.four_bar, 2.0, 1001),
    "P3 frictionless": (four_bar(), 2.0, 1001),
    "P3 Threlfall": (four_bar(mb.Threlfall(0.1)), 2.0, 1001),
    "P3 Threlfall .05 mm": (four_bar(mb.Threlfall(0.1), 0.05e-3), 2.0, 1001),
    "P3 Threlfall .1 mm": (four_bar(mb.Threlfall(0.1), 0.1e-3), 2.0, 1001),
    "P3 Threlfall .4 mm": (four_bar(mb.Threlfall(0.1), 0.4e-3), 2.0, 1001),
    "P5 ideal": (mb.library.marques_slider_crank, 1.0, 1001),
    "P5 frictionless": (marques(), 1.0, 1001),
    "P5 Coulomb": (marques(mb.Coulomb(0.1)), 1.0, 1001),
    "P4 frictionless": (marques(axial=0.05e-3), 1.0, 1001),
    "P4 Coulomb": (marques(mb.Coulomb(0.1), axial=0.05e-3), 1.0, 1001),
}
BRISTLES = ("P5 Dahl", "P5 LuGre")
# Nothing is lost for good: the scale of their balance is the kinetic energy that comes and goes.
LOSSLESS = ("P1 sphere 0", "P1 cylinder 0")


@pytest.fixture(scope="module")
def runs():
    done = {}

    def run(name):
        if name not in done:
            builder, end, outputs = CASES[name]
            system = mb.assemble(builder())
            start, ts = mb.initial_state(system), np.linspace(0.0, end, outputs)
            events = 0 if "ideal" in name else 5000
            done[name] = mb.simulate(system, start, ts, steps=mb.Adaptive(rtol=1e-8), events=events)
        return done[name]

    return run


def dissipated(trajectory):
    return float(trajectory["energy.dissipated"][-1])


def size(trajectory, channel, since=0.0):
    values = np.abs(np.asarray(trajectory[channel]))
    return float(values[np.asarray(trajectory.ts) >= since].max())


def variation(trajectory, channel):
    """The way the channel went up and down: its total variation."""
    return float(np.abs(np.diff(trajectory[channel])).sum())


def touches(trajectory):
    log = trajectory.events
    assert not log.overflow
    return np.asarray(log.log.time)[log.rows("touch")]


def turned(trajectory):
    """Crank angle of P1 (rad); the crank's axis may tilt in a clearance."""
    rate, ts = np.asarray(trajectory["crank.angular_velocity.x"]), np.asarray(trajectory.ts)
    return np.concatenate([[0.0], np.cumsum(np.diff(ts) * (rate[1:] + rate[:-1]) / 2)])


def turning_times(trajectory):
    """When the slider stands at the far end of its stroke (s)."""
    x, ts = np.asarray(trajectory["slider.position.x"]), np.asarray(trajectory.ts)
    inner = np.arange(1, x.size - 1)
    return ts[inner[(x[inner] > x[inner - 1]) & (x[inner] >= x[inner + 1])]]


@pytest.mark.parametrize("name", CASES)
def test_case_runs_to_the_end_with_a_balance_of_energy(name, runs):
    trajectory = runs(name)
    assert bool(trajectory.result.success) and float(trajectory.result.time) == CASES[name][1]
    exchanged = np.ptp(trajectory["energy.kinetic"])
    if "ideal" not in name and name not in LOSSLESS:
        exchanged = min(exchanged, dissipated(trajectory))
    assert np.ptp(trajectory["energy.balance"]) < (1e-4 if name in BRISTLES else 1e-6) * exchanged
    assert size(trajectory, "constraints.violation") < 1e-12


# --- P1, the triple pendulum ---------------------------------------------------------------------------------------


def contacts(trajectory):
    """Duration of every contact that ended (s), and how many did not."""
    open_since, durations = {}, []
    for event in trajectory.events.table():
        point = event["connection"], event["point"]
        if event["event"] == "touch":
            open_since[point] = event["time"]
        elif event["event"] == "release":
            durations.append(event["time"] - open_since.pop(point))
    return np.array(durations), len(open_since)


def test_stops_of_lankarani_and_nikravesh_rebound_and_lose_less(runs):
    """P1 figures 16, 17. "Lower dissipation": reproduced, .106 J against .273 J of Kelvin-Voigt (c_e .01). "No residual
    deformation, bodies rebound": reproduced, no contact lasts longer than 21 ms."""
    impact = runs("P1 triple pendulum, Lankarani-Nikravesh")
    sticky = runs("P1 triple pendulum, Kelvin-Voigt")
    assert dissipated(impact) == pytest.approx(0.1055, rel=1e-3)
    assert dissipated(sticky) == pytest.approx(0.2730, rel=1e-3)
    durations, lasting = contacts(impact)
    assert lasting == 0 and len(durations) == 10 and durations.max() < 0.021


def test_soon_after_a_rebound_comes_the_other_stop(runs):
    """P1: "the other side of the joint is reached soon after": reproduced, Lankarani-Nikravesh, for the first two
    touches of the cylindrical joint (lower and upper stop .39 s apart)."""
    table = runs("P1 triple pendulum, Lankarani-Nikravesh").events.table()
    first, second = [e for e in table if e["event"] == "touch" and e["connection"] == "C2"][:2]
    assert {first["point"], second["point"]} == {"lower stop", "upper stop"}
    assert second["time"] - first["time"] == pytest.approx(0.3914, abs=1e-3)


def test_no_deformation_of_kelvin_voigt_stops_is_permanent(runs):
    """P1 figure 17, "the deformation of the translation stops becomes permanent": refuted, Kelvin-Voigt with c_e .01. It
    lasts up to .133 s (against .009 s with Lankarani-Nikravesh), and every stop is free again before 4 s."""
    durations, lasting = contacts(runs("P1 triple pendulum, Kelvin-Voigt"))
    assert lasting == 0 and len(durations) == 13
    assert durations.max() == pytest.approx(0.1331, abs=1e-3)


def test_swing_decreases_faster_with_kelvin_voigt_stops(runs):
    """P1: swing "decreases slightly in each period" with Lankarani-Nikravesh, "very quickly" with Kelvin-Voigt:
    reproduced. Body 1 comes back to .08 rad from where it was let go, against .32 rad."""
    returned = []
    for law in ("Lankarani-Nikravesh", "Kelvin-Voigt"):
        run = runs(f"P1 triple pendulum, {law}")
        late = np.asarray(run.ts) > 2.0
        returned.append(float(np.asarray(run["R1.spin"])[late].min()))
    np.testing.assert_allclose(returned, [0.077, 0.316], atol=2e-3)


# --- P2 ------------------------------------------------------------------------------------------------------------

STEADY = 2 * TURN


def test_slider_velocity_is_constant_in_free_flight(runs):
    """P2 figure 12, "horizontal lines in the velocity" and "null acceleration" in free flight: reproduced exactly (dry,
    no friction; 16 % of the third and fourth turn)."""
    run = runs("P2 dry")
    flight = np.asarray(run["B.penetration"]) <= 0
    assert size(run, "slider.acceleration.x") > 1e5
    assert np.abs(np.asarray(run["slider.acceleration.x"])[flight]).max() == 0
    late = np.asarray(run.ts) >= STEADY
    assert 0.05 < flight[late].mean() < 0.4


def test_dry_joint_flies_rebounds_and_follows_the_wall(runs):
    """P2 figure 13b, three kinds of motion and points outside the clearance circle: reproduced (dry, no friction).
    Rebounds of 3 to 7 thousandths of a turn, contacts of more than half a turn, flights; penetration .05 to .07 mm."""
    run = runs("P2 dry")
    durations, _ = contacts(run)
    durations /= TURN
    assert np.median(durations) < 0.01 and durations.max() > 0.5
    assert 4e-5 < size(run, "B.penetration", 0.01 * TURN) or size(run, "B.radial") > 0.54e-3


def test_friction_and_film_reduce_the_peaks_of_the_dry_joint(runs):
    """P2 figures 12 to 17, "unrealistic high peaks" without friction, reduced by friction and by the film: reproduced.
    Slider acceleration of the third and fourth turn: dry 2.0e5, friction 4.4e4, hybrid 8.3e4, ideal 1.9e4 m/s^2;
    torque on the crank 850, 330, 450, 139 N m."""
    names = ("ideal", "friction", "hybrid", "dry")
    peaks = [size(runs(f"P2 {name}"), "slider.acceleration.x", STEADY) for name in names]
    torques = [size(runs(f"P2 {name}"), "motor.force", STEADY) for name in names]
    assert peaks[1] < 0.4 * peaks[3] and peaks[2] < 0.6 * peaks[3] and peaks[0] == pytest.approx(1.942e4, rel=1e-3)
    assert torques[1] < 0.6 * torques[3] and torques[2] < 0.7 * torques[3]
    assert torques[0] == pytest.approx(138.5, rel=1e-3)


def test_friction_keeps_contact_most_of_the_time_but_not_always(runs):
    """P2 figure 15b, "the journal follows the wall during all the simulation": refuted with friction .03 (v0 1e-4, v1
    1e-3 m/s): 23 touches in the first turn, and still one or two lifts in the third and fourth. Less strictly
    reproduced: it is in contact for more than 98 % of them."""
    run = runs("P2 friction")
    times = touches(run)
    late = np.asarray(run.ts) >= STEADY
    assert np.mean(np.asarray(run["B.penetration"])[late] > 0) > 0.98
    assert (times < TURN).sum() > 15 and 1 <= (times > STEADY).sum() < 6


def test_film_behaves_like_friction(runs):
    """P2 figure 17b, "same qualitative behaviour as with friction": reproduced (full film, e0 5 um, e1 10 um): one touch
    in the first turn, then the journal never leaves the wall."""
    run = runs("P2 hybrid")
    times = touches(run)
    assert len(times) == 1 and 0.4 * TURN < times[0] < 0.6 * TURN
    late = np.asarray(run.ts) >= STEADY
    assert np.asarray(run["B.radial"])[late].min() > 0.5e-3


def test_dry_joint_cannot_be_predicted_for_long(runs):
    """P2's conclusion, "a predictable nonlinear dynamic response": refuted for the dry joint without friction. A
    clearance that differs by a billionth changes the slider's velocity by more than 1 m/s within four turns."""
    run = runs("P2 dry")
    system = run.system.bind({"B.pair.clearance": 0.5e-3 * (1 + 1e-9)})
    again = mb.simulate(system, mb.initial_state(system), run.ts, steps=mb.Adaptive(rtol=1e-8), events=5000)
    apart = np.abs(np.asarray(again["slider.velocity.x"] - run["slider.velocity.x"]))
    ts = np.asarray(run.ts)
    assert apart[ts < 0.5 * TURN].max() < 1e-3 < 1.0 < apart.max()


# --- P3 ------------------------------------------------------------------------------------------------------------

CLEARANCES = ("P3 Threlfall .05 mm", "P3 Threlfall .1 mm", "P3 Threlfall", "P3 Threlfall .4 mm")


def test_four_bar_with_clearance_has_five_degrees_of_freedom(runs):
    """P3: 24 coordinates (6 of the ground among them) less 19 constraints: reproduced."""
    assert runs("P3 Threlfall").system.degrees_of_freedom == 5
