"""P1 to P5: their cases over the papers' times, and what their results sections say: reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import itertools

import numpy as np
import pytest

import mbjax as mb
from mbjax.library.dry import raw_impact

pytestmark = pytest.mark.long

TURN = 0.012  # s, of P2's crank at 5000 rpm
STIFFNESS = mb.hertz_stiffness(0.0095, -0.010)  # N/m^1.5, of P2
PER_MM = 1000**1.5  # P1's stiffness read in N/mm^1.5


def hybrid(cavitation=False):
    """P2's third case: squeeze film of SAE 40, full or half, fading over e0 into frictionless dry contact."""
    dry = mb.Dry(raw_impact(STIFFNESS, 0.9), mb.Frictionless())
    return mb.Hybrid(mb.SqueezeFilm(0.4, 0.04, extra=10e-6, cavitation=cavitation), dry, 5e-6)


def sphere(clearance, **options):
    return lambda: mb.library.slider_crank_3d_spherical_clearance(clearance=clearance, **options)


def cylinder(clearance, **options):
    return lambda: mb.library.slider_crank_3d_revolute_clearance(clearance=clearance, **options)


def planar(**options):
    return lambda: mb.library.planar_slider_crank_clearance(**options)


def four_bar(friction=None, clearance=0.2e-3, stiffness=None):
    return lambda: mb.library.four_bar_clearance(clearance=clearance, friction=friction, stiffness=stiffness)


def marques(friction=None, axial=0.5e-3):
    return lambda: mb.library.marques_slider_crank_clearance(axial_clearance=axial, friction=friction)


# name: (builder, end time of the paper in s, outputs). P2 shows two turns of the steady state: the third and fourth.
CASES = {
    "P1 ideal": (mb.library.slider_crank_3d, 5.0, 1001),
    "P1 sphere 0": (sphere(0.0), 5.0, 1001),
    "P1 sphere 1 um": (sphere(1e-6), 5.0, 1001),
    "P1 sphere .1 mm": (sphere(1e-4), 5.0, 1001),
    "P1 sphere 1 mm": (sphere(1e-3), 5.0, 1001),
    "P1 sphere 1 um, N/mm": (sphere(1e-6, stiffness=5e6 * PER_MM), 5.0, 1001),
    "P1 cylinder 1 um": (cylinder(1e-6), 5.0, 1001),
    "P1 cylinder .1 mm": (cylinder(1e-4), 5.0, 1001),
    "P1 cylinder 1 mm": (cylinder(1e-3), 5.0, 1001),
    "P1 triple pendulum, Lankarani-Nikravesh": (lambda: mb.library.triple_pendulum(stops="impact"), 4.0, 1001),
    "P1 triple pendulum, Kelvin-Voigt": (lambda: mb.library.triple_pendulum(stops="kelvin_voigt"), 4.0, 1001),
    "P2 dry, a billionth wider": (planar(clearance=0.5e-3 * (1 + 1e-9), stiffness=STIFFNESS), 4 * TURN, 2001),
    "P2 dry": (planar(stiffness=STIFFNESS), 4 * TURN, 2001),
    "P2 friction": (planar(friction=mb.Ambrosio(0.03, 1e-4, 1e-3)), 4 * TURN, 2001),
    "P2 hybrid": (planar(interface=hybrid()), 4 * TURN, 2001),
    "P2 half film": (planar(interface=hybrid(cavitation=True)), 4 * TURN, 2001),
    "P3 ideal": (mb.library.four_bar, 2.0, 2001),
    "P3 frictionless": (four_bar(), 2.0, 2001),
    "P3 Threlfall": (four_bar(mb.Threlfall(0.1)), 2.0, 2001),
    "P3 Ambrosio": (four_bar(mb.Ambrosio(0.1, 1e-4, 1e-3)), 2.0, 2001),
    "P3 piecewise": (four_bar(mb.PiecewiseLinear(0.1, 0.15)), 2.0, 2001),
    "P3 Bengisu-Akay": (four_bar(mb.BengisuAkay(0.1, 0.15)), 2.0, 2001),
    "P3 internal contact": (four_bar(mb.Threlfall(0.1), stiffness=1.0615e11), 2.0, 2001),
    "P3 Threlfall .05 mm": (four_bar(mb.Threlfall(0.1), 0.05e-3), 2.0, 2001),
    "P3 Threlfall .1 mm": (four_bar(mb.Threlfall(0.1), 0.1e-3), 2.0, 2001),
    "P3 Threlfall .4 mm": (four_bar(mb.Threlfall(0.1), 0.4e-3), 2.0, 2001),
    "P3 Threlfall mu .05": (four_bar(mb.Threlfall(0.05)), 2.0, 2001),
    "P3 Threlfall mu .2": (four_bar(mb.Threlfall(0.2)), 2.0, 2001),
    "P3 Threlfall mu .4": (four_bar(mb.Threlfall(0.4)), 2.0, 2001),
    "P5 ideal": (mb.library.marques_slider_crank, 1.0, 2001),
    "P5 frictionless": (marques(), 1.0, 2001),
    "P5 Coulomb": (marques(mb.Coulomb(0.1)), 1.0, 2001),
    "P5 Stribeck": (marques(mb.Stribeck(0.1, 0.2)), 1.0, 2001),
    "P5 Dahl": (marques(mb.Dahl(0.1)), 1.0, 2001),
    "P5 LuGre": (marques(mb.LuGre(0.1, 0.2)), 1.0, 2001),
    "P5 LuGre as printed": (marques(mb.LuGre(0.1, 0.2, printed=True)), 1.0, 2001),
    "P4 frictionless": (marques(axial=0.05e-3), 1.0, 2001),
    "P4 Coulomb": (marques(mb.Coulomb(0.1), axial=0.05e-3), 1.0, 2001),
}
# Next to nothing is lost: the scale of their balance is the kinetic energy that comes and goes.
LOSSLESS = ("P1 sphere 0", "P1 sphere 1 um, N/mm")


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


@pytest.fixture(scope="module")
def ensemble():
    """Runs of a case that differ by 1e-9 of one number: what a chaotic motion can be asked for is what they share."""
    done = {}

    def run(name, path, count):
        if name not in done:
            builder, end, outputs = CASES[name]
            system = mb.assemble(builder())
            start, ts, value = mb.initial_state(system), np.linspace(0.0, end, outputs), system.mechanism.value(path)
            done[name] = [
                mb.simulate(
                    system.bind({path: value * (1 + k * 1e-9)}), start, ts, steps=mb.Adaptive(rtol=1e-8), events=5000
                )
                for k in range(count)
            ]
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
    # As printed, the bristle's damping acts at touch whatever the normal force: rough at any tolerance.
    share = 1e-4 if "as printed" in name else 1e-6
    assert np.ptp(trajectory["energy.balance"]) < share * exchanged
    assert size(trajectory, "constraints.violation") < 1e-12


# --- P1, the slider-crank with spherical clearance -----------------------------------------------------------------

SPHERES = ("P1 sphere 1 um", "P1 sphere .1 mm", "P1 sphere 1 mm")


def test_ideal_slider_crank_keeps_its_amplitude(runs):
    """P1 figure 8, "the amplitude of the slider motion is constant": reproduced, to .1 mm (outputs every 5 ms)."""
    run = runs("P1 ideal")
    x, ends = np.asarray(run["slider.position.x"]), turning_times(run)
    assert len(ends) == 9 and np.ptp(x[np.isin(run.ts, ends)]) < 1e-4


def test_clearance_delays_the_slider_but_not_in_the_order_of_its_size(runs):
    """P1 figures 8, 9, "delay when the clearance increases": reproduced (N/m^1.5), the fourth far end of the stroke
    comes at 2.25, 2.14, 2.31 s with 1 um, .1 mm, 1 mm, after 1.995 s ideally. That it grows with the clearance is
    refuted: 1 um loses more (.103 J) than .1 mm (.067 J)."""
    delays = [turning_times(runs(name))[3] - turning_times(runs("P1 ideal"))[3] for name in SPHERES]
    np.testing.assert_allclose(delays, [0.255, 0.145, 0.315], atol=0.011)
    np.testing.assert_allclose([dissipated(runs(name)) for name in SPHERES[:2]], [0.1033, 0.0671], rtol=0.01)


def test_crank_ends_as_a_pendulum(runs):
    """P1: "eventually the crank is unable to complete a rotation": reproduced with 1 mm (N/m^1.5): it comes back after
    4.96 turns, within the 5 s."""
    angle = turned(runs("P1 sphere 1 mm"))
    assert angle.max() == pytest.approx(31.16, abs=0.1) and angle[-1] < angle.max() - 0.4


def test_vanishing_clearance_is_a_perfect_joint_only_for_a_stiff_contact(runs, ensemble):
    """P1 figure 8 and conclusions, "null and very small clearances behave like the perfect joint": refuted with 5e6
    N/m^1.5: the slider is up to 72 to 99 mm (clearance 0, five runs) and 106 mm (1 um) off. Reproduced with 5e6
    N/mm^1.5: .08 mm (1 um)."""
    ideal = np.asarray(runs("P1 ideal")["slider.position.x"])

    def off(run):
        return np.abs(np.asarray(run["slider.position.x"]) - ideal).max()

    null = [off(run) for run in ensemble("P1 sphere 0", "B.interface.normal.elastic.stiffness", 5)]
    assert min(null) > 0.05 and max(null) < 0.15
    assert off(runs("P1 sphere 1 um")) == pytest.approx(0.1057, rel=0.02)
    assert off(runs("P1 sphere 1 um, N/mm")) < 1.5e-4


def test_reaction_oscillates_more_with_more_clearance_but_most_with_none(runs, ensemble):
    """P1 figure 10, total variation of the reaction along x over that of the ideal joint. "Oscillations grow with the
    clearance": reproduced from 1 um (.84) over .1 mm (.91) to 1 mm (1.71). "With null clearance no oscillations":
    refuted (N/m^1.5, clip), 13 to 19 in three runs that differ by 1e-9 of the stiffness; with 1 um in N/mm^1.5 it is
    1.01 to 1.37 in six."""
    ideal = variation(runs("P1 ideal"), "B.reaction.x")
    one, tenth, whole = (variation(runs(name), "B.reaction.x") / ideal for name in SPHERES)
    assert one < tenth < 1.0 and whole > 1.4
    number = "B.interface.normal.elastic.stiffness"
    null = [variation(run, "B.reaction.x") / ideal for run in ensemble("P1 sphere 0", number, 5)]
    stiff = [variation(run, "B.reaction.x") / ideal for run in ensemble("P1 sphere 1 um, N/mm", number, 6)]
    assert min(null) > 10 and 1.0 < min(stiff) < 1.05 and max(stiff) < 1.6


def test_clearance_costs_steps(runs):
    """P1's conclusions, "no evidence that clearances cost computing time": refuted, 1 116 steps with the ideal joint,
    4 400 to 14 200 with clearance."""
    ideal = int(runs("P1 ideal").statistics.steps)
    assert all(int(runs(name).statistics.steps) > 3 * ideal for name in (*SPHERES, "P1 sphere 0"))


# --- P1, the slider-crank with revolute clearance ------------------------------------------------------------------

CYLINDERS = ("P1 cylinder 1 um", "P1 cylinder .1 mm", "P1 cylinder 1 mm")


def test_crank_on_a_loose_bearing_ends_about_its_equilibrium(runs):
    """P1 figure 11b, "at 1 mm no more than two revolutions, then oscillation about the static equilibrium": reproduced
    (N/m^1.5, bearing of 20 mm, journal not shorter): .57 turns, then within 1 rad of hanging down. But 1 um and .1 mm
    do the same here (.58 turns): the strips of 1.25e6 N/m^1.5 give 2.6 mm and let the crank tilt by .3 rad."""
    for name in CYLINDERS:
        run = runs(name)
        angle = turned(run)
        late = np.asarray(run.ts) > 3.0
        assert 3.0 < angle.max() < 4.0 and np.abs(angle[late] - np.pi).max() < 1.0
        assert 2e-3 < size(run, "A.penetration") < 3.5e-3 and size(run, "A.tilt") > 0.25


def test_delay_does_not_grow_with_the_clearance_of_the_bearing(runs):
    """P1 figure 11a, "the end of the stroke is increasingly delayed as the clearance increases": refuted (N/m^1.5,
    bearing of 20 mm). All three leave the ideal motion within the first turn, and lose the same .57 J within 1 %."""
    lost = [dissipated(runs(name)) for name in CYLINDERS]
    np.testing.assert_allclose(lost, 0.5675, rtol=0.01)


def test_reaction_of_the_bearing_oscillates_more_with_more_clearance(runs):
    """P1 figure 12, "amplitude of the oscillations higher as the clearance increases": reproduced, by the total
    variation of the vertical reaction."""
    assert np.all(np.diff([variation(runs(name), "A.reaction.z") for name in CYLINDERS]) > 0)


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


def test_rebounds_come_back_to_the_same_stop_more_often_than_to_the_other(runs):
    """P1, Lankarani-Nikravesh: "soon after the contact, contact with the stop on the other side": refuted. Of the
    seven sliding contacts that follow one, two are on the other side, .73 and .50 s later; five are on the same side
    again."""
    table = runs("P1 triple pendulum, Lankarani-Nikravesh").events.table()
    sliding = [e for e in table if e["event"] == "touch" and e["connection"] == "C2"]
    later = [b["time"] - a["time"] for a, b in itertools.pairwise(sliding) if a["point"] != b["point"]]
    assert len(sliding) == 8
    np.testing.assert_allclose(later, [0.7265, 0.5036], atol=1e-3)


def test_deformation_of_kelvin_voigt_stops_lasts_but_is_not_permanent(runs):
    """P1 figure 17, "the deformation of the translation stops becomes permanent": refuted for c_e .01. Three contacts
    of the sliding stops last .68, .66 and .61 s (.009 s at most with Lankarani-Nikravesh), but every stop is
    free before 4 s."""
    durations, lasting = contacts(runs("P1 triple pendulum, Kelvin-Voigt"))
    assert lasting == 0 and len(durations) == 13
    np.testing.assert_allclose(np.sort(durations)[-4:], [0.1331, 0.6055, 0.6620, 0.6754], atol=1e-3)


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


@pytest.fixture
def dry(ensemble):
    """Ten runs of P2's dry joint without friction."""
    return ensemble("P2 dry", "B.pair.clearance", 10)


def test_slider_velocity_is_constant_in_free_flight(dry):
    """P2 figure 12, "horizontal lines in the velocity" and "null acceleration" in free flight: reproduced exactly (dry,
    no friction; a quarter of the third and fourth turn, 1 to 43 % in ten runs)."""
    shares = []
    for run in dry:
        flight = np.asarray(run["B.penetration"]) <= 0
        assert size(run, "slider.acceleration.x") > 1e5
        assert np.abs(np.asarray(run["slider.acceleration.x"])[flight]).max() == 0
        shares.append(flight[np.asarray(run.ts) >= STEADY].mean())
    assert 0.12 < np.mean(shares) < 0.38


def test_dry_joint_flies_rebounds_and_follows_the_wall(dry):
    """P2 figure 13b, three kinds of motion and points outside the clearance circle: reproduced (dry, no friction).
    Rebounds of 3 to 7 thousandths of a turn, contacts of half a turn and more, flights; penetration .066 mm."""
    longest = []
    for run in dry:
        durations, _ = contacts(run)
        durations /= TURN
        assert np.median(durations) < 0.01
        longest.append(durations.max())
        assert 0.54e-3 < size(run, "B.radial") < 0.58e-3
    assert np.median(longest) > 0.5


def test_friction_and_film_reduce_the_peaks_of_the_dry_joint(runs, dry):
    """P2 figures 12 to 17, "unrealistic high peaks" without friction, reduced by friction and by the film: reproduced.
    Slider acceleration of the third and fourth turn: dry 1.6e5 (median of ten runs), friction 4.4e4, hybrid 8.3e4,
    ideal 1.9e4 m/s^2; torque on the crank 1000, 330, 450, 139 N m."""

    def peaks(channel):
        rubbing, oiled = (size(runs(f"P2 {name}"), channel, STEADY) for name in ("friction", "hybrid"))
        return rubbing, oiled, np.median([size(run, channel, STEADY) for run in dry])

    rubbing, oiled, free = peaks("slider.acceleration.x")
    ideal = 0.05 * (2 * np.pi / TURN) ** 2 * (1 + 0.05 / 0.12)  # at top dead centre
    assert ideal < rubbing < 0.4 * free and ideal < oiled < 0.7 * free
    rubbing, oiled, free = peaks("motor.force")
    assert 139 < rubbing < 0.6 * free and 139 < oiled < 0.7 * free


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
    """P2 figure 17b, "same qualitative behaviour as with friction": reproduced (full film, e0 5 um, e1 10 um): one
    touch in the first turn, then the journal never leaves the wall."""
    run = runs("P2 hybrid")
    times = touches(run)
    assert len(times) == 1 and 0.4 * TURN < times[0] < 0.6 * TURN
    late = np.asarray(run.ts) >= STEADY
    assert np.asarray(run["B.radial"])[late].min() > 0.5e-3


def test_dry_joint_cannot_be_predicted_for_long(runs):
    """P2's conclusion, "a predictable nonlinear dynamic response": refuted for the dry joint without friction. A
    clearance that differs by a billionth changes the slider's velocity by more than 1 m/s within four turns."""
    run, again = runs("P2 dry"), runs("P2 dry, a billionth wider")
    apart = np.abs(np.asarray(again["slider.velocity.x"] - run["slider.velocity.x"]))
    ts = np.asarray(run.ts)
    assert apart[ts < 0.5 * TURN].max() < 1e-3 < 1.0 < apart.max()


# --- P3 ------------------------------------------------------------------------------------------------------------

CLEARANCES = ("P3 Threlfall .05 mm", "P3 Threlfall .1 mm", "P3 Threlfall", "P3 Threlfall .4 mm")


def test_four_bar_with_clearance_has_five_degrees_of_freedom(runs):
    """P3: 24 coordinates (6 of the ground among them) less 19 constraints: reproduced."""
    assert runs("P3 Threlfall").system.degrees_of_freedom == 5


def test_frictionless_four_bar_shakes_most(runs):
    """P3 figure 5, vertical motion of the rocker. "Higher peaks, more oscillations without friction": reproduced,
    acceleration up to 79 against 39 (Threlfall) and 11 m/s^2 (ideal), total variation 9 times that with friction.
    "Significantly larger velocities than ideal": refuted, .141 against .122 m/s, and .123 m/s with friction."""
    free, rubbing, ideal = (runs(f"P3 {name}") for name in ("frictionless", "Threlfall", "ideal"))
    peaks = [size(run, "rocker.acceleration.z") for run in (free, rubbing, ideal)]
    assert peaks[0] > 1.5 * peaks[1] > 3 * peaks[2]
    assert variation(free, "rocker.acceleration.z") > 5 * variation(rubbing, "rocker.acceleration.z")
    assert size(free, "rocker.velocity.z") < 1.3 * size(ideal, "rocker.velocity.z")
    assert size(rubbing, "rocker.velocity.z") == pytest.approx(size(ideal, "rocker.velocity.z"), rel=0.02)


def test_friction_dissipates_more_than_impacts(runs):
    """P3 figure 5d, "the energy dissipated is higher with friction": reproduced, 10.3 mJ against 2.1 mJ."""
    free, rubbing = (dissipated(runs(f"P3 {name}")) for name in ("frictionless", "Threlfall"))
    assert rubbing == pytest.approx(0.01027, rel=0.01) and rubbing > 3 * free


def test_main_impacts_come_first_only_with_friction(runs, ensemble):
    """P3 figure 6. "Main impacts in the initial phase": reproduced with friction (Threlfall: 23 touches, the last
    at .10 s), not without: after 22 touches in the first .2 s come 4 to 50 more between 1.7 and 2 s (six runs), some of
    them faster (up to .056 m/s) than any before (.036 m/s). "More impacts without friction": reproduced, 26 to 74."""
    rubbing, fastest = touches(runs("P3 Threlfall")), []
    assert rubbing.max() < 0.2 and len(rubbing) == 23
    for run in ensemble("P3 frictionless", "joint.pair.clearance", 6):
        times, log = touches(run), run.events
        speeds = np.asarray(log.log.speed)[log.rows("touch")]
        assert (times < 0.2).sum() == 22 and speeds[times < 0.2].max() == pytest.approx(0.0357, abs=1e-4)
        assert len(times) > len(rubbing) and (times > 1.5).any()
        fastest.append(speeds.max())
    assert max(fastest) > 0.037


def test_smaller_clearance_is_smoother_and_loses_less_but_is_no_nearer_to_the_ideal(runs):
    """P3 figure 9, Threlfall, .05 to .4 mm. "Less chaotic" (total variation of the acceleration 440 to 730 m/s^2) and
    "more conservative" (9.2, 9.5, 10.3, 12.8 mJ): reproduced. "Similar to the ideal when very small": refuted, the
    rocker is off by 3.1, 3.1, 3.0, 2.9 mm RMS: friction stays."""
    ideal = np.asarray(runs("P3 ideal")["rocker.position.z"])
    lost = [dissipated(runs(name)) for name in CLEARANCES]
    assert np.all(np.diff(lost) > 0)
    rough = [variation(runs(name), "rocker.acceleration.z") for name in CLEARANCES]
    assert rough[0] < rough[2] < rough[3]
    off = [np.sqrt(np.mean((np.asarray(runs(name)["rocker.position.z"]) - ideal) ** 2)) for name in CLEARANCES]
    assert min(off) > 2.5e-3 and np.ptp(off) < 0.4e-3


def test_higher_friction_dissipates_more(runs):
    """P3 figure 10, Threlfall, .05 to .4: reproduced, 6.6, 10.3, 15.0, 15.5 mJ."""
    names = ("P3 Threlfall mu .05", "P3 Threlfall", "P3 Threlfall mu .2", "P3 Threlfall mu .4")
    np.testing.assert_allclose([dissipated(runs(n)) for n in names], [6.58e-3, 10.27e-3, 15.01e-3, 15.46e-3], rtol=0.01)


def test_cost_of_the_four_bar(runs):
    """P3 figure 11, in steps. "Clearance penalises" and "friction makes it cheaper": reproduced, ideal 2 000,
    frictionless 13 500, Threlfall 8 100. "The clearance hardly matters": reproduced, 8 000 to 9 000. "Lower friction is
    slower": reproduced from .05 (9 600) to .1, refuted beyond: .4 needs 13 200."""
    cost = {name: int(runs(name).statistics.steps) for name in CASES if name.startswith("P3")}
    assert 2 * cost["P3 ideal"] < cost["P3 Threlfall"] < 0.8 * cost["P3 frictionless"]
    sizes = [cost[name] for name in CLEARANCES]
    assert max(sizes) < 1.2 * min(sizes)
    assert cost["P3 Threlfall"] < cost["P3 Threlfall mu .05"] < cost["P3 Threlfall mu .4"]


# --- P4, P5 --------------------------------------------------------------------------------------------------------


def test_clearance_and_friction_in_the_spatial_slider_crank(runs):
    """P5 figure 4. "Clearance: higher peaks of acceleration": reproduced, 1 000 to 1 400 against 33 m/s^2 ideally; 99 %
    stay below 85 to 98. "Friction: lower peaks, much more dissipation, smaller ranges": reproduced with Coulomb (48 to
    56 m/s^2 by 99 %) and Stribeck: .50 J against .10 J, position over .132 m against .159 m, velocity up to .83 against
    1.06 m/s (ideal .149 m, 1.04 m/s)."""
    ideal, free = (runs(f"P5 {name}") for name in ("ideal", "frictionless"))
    for rubbing in (runs("P5 Coulomb"), runs("P5 Stribeck")):
        peaks = [np.quantile(np.abs(run["slider.acceleration.x"]), 0.99) for run in (ideal, rubbing, free)]
        assert peaks[0] < peaks[1] < peaks[2] and size(free, "slider.acceleration.x") > 10 * peaks[0]
        assert dissipated(rubbing) > 3 * dissipated(free)
        assert dissipated(free) == pytest.approx(0.096, rel=0.1) and dissipated(rubbing) == pytest.approx(
            0.495, rel=0.05
        )
        stroke = [np.ptp(run["slider.position.x"]) for run in (rubbing, ideal, free)]
        assert stroke[0] < stroke[1] < stroke[2]
        assert size(rubbing, "slider.velocity.x") < 0.9 * size(ideal, "slider.velocity.x")


def test_any_friction_dissipates_but_bristles_do_not_calm_the_slider(runs):
    """P5: "friction itself, regardless of the model, introduces a large amount of dissipation": reproduced, .50
    (Coulomb, Stribeck), .21 to .23 (Dahl), .32 J (LuGre) against .10 J. "Lower peaks, smaller ranges": refuted for
    Dahl and LuGre (sigma_0 1e5 N/m): 99 % of the accelerations stay below 130 and 139 m/s^2, against 88 without
    friction, and the slider moves over .159 m as without. P5's conclusion hints at it: impacts are too short for a
    bristle to bend. LuGre as printed loses less (.16 to .20 J at two tolerances) and shakes more (145 to 159 m/s^2)."""
    free = runs("P5 frictionless")
    for law, lost in {"Coulomb": 0.494, "Stribeck": 0.496, "Dahl": 0.206, "LuGre": 0.321}.items():
        assert dissipated(runs(f"P5 {law}")) == pytest.approx(lost, rel=0.25) and 0.75 * lost > 1.5 * dissipated(free)
    assert 1.2 * dissipated(free) < dissipated(runs("P5 LuGre as printed")) < 0.25
    for law in ("Dahl", "LuGre", "LuGre as printed"):
        run = runs(f"P5 {law}")
        assert np.ptp(run["slider.position.x"]) == pytest.approx(np.ptp(free["slider.position.x"]), rel=0.02)
        peaks = [np.quantile(np.abs(r["slider.acceleration.x"]), 0.99) for r in (run, free)]
        assert peaks[0] > 1.1 * peaks[1]


def test_static_friction_laws_of_the_four_bar_agree(runs):
    """P3 figure 8, "the general response is quite similar" for four friction laws: reproduced. Ambrosio, Threlfall,
    piecewise linear, Bengisu-Akay: 23 touches each, 10.27 to 10.28 mJ, and rockers that stay within .05 mm of each
    other. With Hertz' stiffness of a ball *in* a socket (ten times P3's): 31 touches and the same 10.26 mJ."""
    laws = [runs(f"P3 {law}") for law in ("Threlfall", "Ambrosio", "piecewise", "Bengisu-Akay")]
    np.testing.assert_allclose([dissipated(run) for run in laws], 10.27e-3, rtol=2e-3)
    assert {len(touches(run)) for run in laws} == {23}
    heights = np.array([run["rocker.position.z"] for run in laws])
    assert np.ptp(heights, axis=0).max() < 5e-5
    assert dissipated(runs("P3 internal contact")) == pytest.approx(10.27e-3, rel=5e-3)


def test_half_film_lets_the_journal_off_the_wall(runs):
    """P2 gives both: with cavitation the film only pushes. The journal then comes off the wall again in every turn
    (down to .35 of .5 mm) and touches three times instead of once; peaks are no higher than those of the dry joint."""
    run = runs("P2 half film")
    late = np.asarray(run.ts) >= STEADY
    assert len(touches(run)) <= 5 and 0.3e-3 < np.asarray(run["B.radial"])[late].min() < 0.45e-3
    assert size(run, "slider.acceleration.x", STEADY) < 2e5
