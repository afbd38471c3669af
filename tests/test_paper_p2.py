"""P2: what the results section says, reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import numpy as np
import pytest
from papers import CASES, TURN, balanced, contacts, ensemble, of_connection, paper, size, touches

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("P2 ")])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


STEADY = 2 * TURN


@pytest.fixture
def dry():
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


def test_friction_and_film_reduce_the_peaks_of_the_dry_joint(dry):
    """P2 figures 12 to 17, "unrealistic high peaks" without friction, reduced by friction and by the film: reproduced.
    Slider acceleration of the third and fourth turn: dry 1.6e5 (median of ten runs), friction 4.4e4, hybrid 8.3e4,
    ideal 1.9e4 m/s^2; torque on the crank 1000, 330, 450, 139 N m."""

    def peaks(channel):
        rubbing, oiled = (size(paper(f"P2 {name}"), channel, STEADY) for name in ("friction", "hybrid"))
        return rubbing, oiled, np.median([size(run, channel, STEADY) for run in dry])

    rubbing, oiled, free = peaks("slider.acceleration.x")
    ideal = 0.05 * (2 * np.pi / TURN) ** 2 * (1 + 0.05 / 0.12)  # at top dead centre
    assert ideal < rubbing < 0.4 * free and ideal < oiled < 0.7 * free
    rubbing, oiled, free = peaks("motor.force")
    assert 139 < rubbing < 0.6 * free and 139 < oiled < 0.7 * free


def test_friction_keeps_contact_most_of_the_time_but_not_always():
    """P2 figure 15b, "the journal follows the wall during all the simulation": refuted with friction .03 (v0 1e-4, v1
    1e-3 m/s): 23 touches in the first turn, and still one or two lifts in the third and fourth. Less strictly
    reproduced: it is in contact for more than 98 % of them."""
    run = paper("P2 friction")
    times = touches(run)
    late = np.asarray(run.ts) >= STEADY
    assert np.mean(np.asarray(run["B.penetration"])[late] > 0) > 0.98
    assert (times < TURN).sum() > 15 and 1 <= (times > STEADY).sum() < 6


def test_film_behaves_like_friction():
    """P2 figure 17b, "same qualitative behaviour as with friction": reproduced (full film, e0 5 um, e1 10 um): one
    touch in the first turn, then the journal never leaves the wall. P2's abstract and 4.1, the film keeps the surfaces
    "apart": refuted, in the third and fourth turn the journal is 4 to 16 um inside of the wall."""
    run = paper("P2 hybrid")
    times = touches(run)
    assert len(times) == 1 and 0.4 * TURN < times[0] < 0.6 * TURN
    late = np.asarray(run.ts) >= STEADY
    assert np.asarray(run["B.radial"])[late].min() > 0.5e-3
    depth = np.asarray(run["B.penetration"])[late]
    np.testing.assert_allclose([depth.min(), depth.max()], [4.18e-6, 16.0e-6], rtol=0.05)


def test_friction_and_film_make_the_joint_predictable():
    """P2's conclusion once more: reproduced with friction and with the film. A clearance that differs by a billionth
    changes the slider's velocity by .003 and .008 m/s in four turns."""
    for name in ("P2 friction", "P2 hybrid"):
        apart = np.asarray(paper(f"{name}, a billionth wider")["slider.velocity.x"] - paper(name)["slider.velocity.x"])
        assert np.abs(apart).max() < 0.05


def test_motion_is_not_steady_after_two_turns():
    """P2 shows two turns "after steady-state has been reached": refuted. The third and the fourth turn differ by up to
    2.1 m/s (friction) and 4.2 m/s (film) of the slider's 31 m/s."""
    for name in ("P2 friction", "P2 hybrid"):
        speed = np.asarray(paper(name)["slider.velocity.x"])
        assert 1.0 < np.abs(speed[1500:] - speed[1000:1501]).max() < 8.0


def test_dry_joint_does_not_lose_less_than_with_friction(dry):
    """P2's conclusions: peaks without friction are high "because the energy dissipation predicted is clearly too low":
    refuted as a reason. In the third and fourth turn the dry joint loses 2.2 J (mean of ten runs within 40 %), with
    friction 2.3 J, with the film .5 J, whose peaks are lower all the same."""

    def lost(run):
        energy = np.asarray(run["energy.dissipated"])
        return energy[-1] - energy[1000]

    free, rubbing, oiled = np.mean([lost(run) for run in dry]), lost(paper("P2 friction")), lost(paper("P2 hybrid"))
    assert oiled < 0.3 * rubbing and 0.5 * rubbing < free < 1.5 * rubbing


def test_film_softens_the_touches(dry):
    """P2 figures 16, 17, the lubricant "reduces the level of impacts": reproduced, touches at .003 against 4.4 m/s, and
    reactions along x of 12 kN against 23 kN in the third and fourth turn (the middle of ten runs, 13 to 29 kN)."""
    speeds = [
        np.asarray(paper(n).events.log.speed)[paper(n).events.rows("touch")].max() for n in ("P2 dry", "P2 hybrid")
    ]
    assert speeds[0] > 4.0 and speeds[1] < 0.01
    usual = np.median([size(run, "B.reaction.x", STEADY) for run in dry])
    assert size(paper("P2 hybrid"), "B.reaction.x", STEADY) < 0.8 * usual


def test_dry_joint_cannot_be_predicted_for_long():
    """P2's conclusion, "a predictable nonlinear dynamic response": refuted for the dry joint without friction. A
    clearance that differs by a billionth changes the slider's velocity by more than 1 m/s within four turns."""
    run, again = paper("P2 dry"), paper("P2 dry, a billionth wider")
    apart = np.abs(np.asarray(again["slider.velocity.x"] - run["slider.velocity.x"]))
    ts = np.asarray(run.ts)
    assert apart[ts < 0.5 * TURN].max() < 1e-3 < 1.0 < apart.max()


def test_half_film_lets_the_journal_off_the_wall():
    """P2 gives both: with cavitation the film only pushes. The journal then comes off the wall again in every turn
    (down to .35 of .5 mm) and touches three times instead of once; peaks are no higher than those of the dry joint."""
    run = paper("P2 half film")
    late = np.asarray(run.ts) >= STEADY
    assert len(touches(run)) <= 5 and 0.3e-3 < np.asarray(run["B.radial"])[late].min() < 0.45e-3
    assert size(run, "slider.acceleration.x", STEADY) < 2e5


def test_peaks_are_impacts_and_flight_follows_them(dry):
    """P2 figures 12b, 13a (dry). Acceleration peaks are impacts, "immediately followed by null acceleration":
    reproduced, above 5e4 m/s^2 the journal always touches, above 1e5 m/s^2 it is in flight within .01 turn in 99 % and
    within .014 turn always (of those above 5e4 within .01 turn in 47 to 75 %; fifty runs). "Peaks of the moment are due
    to impacts": reproduced, in flight it is 74 N m at most, in contact up to 1190 to 1330 N m."""
    soon, after_peaks = [], []
    for run in dry:
        ts, flying = np.asarray(run.ts), np.asarray(run["B.penetration"]) <= 0
        speeding, moment = np.abs(np.asarray(run["slider.acceleration.x"])), np.abs(np.asarray(run["motor.force"]))
        assert not flying[speeding > 5e4].any()
        quiet = np.append(ts[flying], np.inf)
        wait = (quiet[np.searchsorted(quiet, ts)] - ts) / TURN
        assert (speeding > 1e5).sum() > 5 and wait[speeding > 1e5].max() < 0.03
        after_peaks += list(wait[speeding > 1e5] < 0.01)
        soon.append(np.mean(wait[speeding > 5e4] < 0.01))
        assert moment[flying].max() < 80 and moment.max() > 1000
    assert np.mean(after_peaks) > 0.95 and 0.4 < np.median(soon) < 0.8


def test_long_contacts_are_smooth(dry):
    """P2 figure 12, "smooth changes" are continuous contact, "confirmed" by the acceleration: reproduced. In contacts
    of more than .2 turn, later than .1 turn after the touch, nine tenths of the changes of the acceleration from output
    to output (.002 turn) are below 6e3 to 1.1e4 m/s^2, about rebounds below 7e4 to 8e4 (ten runs)."""
    for run in dry:
        ts, acceleration = np.asarray(run.ts), np.asarray(run["slider.acceleration.x"])
        calm, wild = np.zeros(ts.size, bool), np.zeros(ts.size, bool)
        for touch, _, release, *_ in of_connection(run, "B"):
            release = ts[-1] if release is None else release
            if release - touch > 0.2 * TURN:
                calm |= (ts > touch + 0.1 * TURN) & (ts < release - 0.01 * TURN)
            elif release - touch < 0.01 * TURN:
                wild |= (ts > touch - 0.004 * TURN) & (ts < release + 0.004 * TURN)
        jumps = np.abs(np.diff(acceleration))
        assert np.quantile(jumps[calm[1:]], 0.9) < 0.25 * np.quantile(jumps[wild[1:]], 0.9)


def test_friction_and_film_reduce_the_forces_in_the_joint(dry):
    """P2 figure 14 and conclusions, friction reduces "the force peaks due to the impact", and so does the film:
    reproduced. In the third and fourth turn up to 28 kN (dry, the middle of ten runs, 16 to 33), 6.6 kN (friction),
    11.7 kN (film). Single contacts of the first turn: 13.5 kN in the middle, with friction 12.1; the hardest is as hard
    (45.9, 45.8 kN)."""

    def force(run):
        both = np.hypot(*(np.asarray(run[f"B.reaction.{c}"]) for c in "xy"))
        return both[np.asarray(run.ts) >= STEADY].max()

    usual = np.median([force(run) for run in dry])
    assert 0.15 < force(paper("P2 friction")) / usual < 0.4 and 0.3 < force(paper("P2 hybrid")) / usual < 0.7
    free, rubbing = (
        [peak for *_, release, _, peak in of_connection(run, "B") if release is not None and release < TURN]
        for run in (dry[0], paper("P2 friction"))
    )
    assert 0.8 < np.median(rubbing) / np.median(free) < 0.95
    assert max(rubbing) == pytest.approx(max(free), rel=5e-3)


def test_slider_is_off_its_ideal_place_by_the_clearance(dry):
    """P2's conclusions, "position and velocity deviations" can be predicted: reproduced to what the clearance of .5 mm
    lets expect, the slider is up to .58 to .61 mm (dry, ten runs), .58 (friction), .56 mm (film) off its ideal place;
    its speed up to 4.18, 4.18, 3.54 m/s: the first flight."""

    def off(run):
        ts = np.asarray(run.ts)
        angle, rate = 2 * np.pi * ts / TURN, 2 * np.pi / TURN
        reach = np.sqrt(0.12**2 - (0.05 * np.sin(angle)) ** 2)
        place = 0.05 * np.cos(angle) + reach
        speed = -0.05 * rate * np.sin(angle) * (1 + 0.05 * np.cos(angle) / reach)
        return [
            np.abs(np.asarray(run[f"slider.{channel}.x"]) - value).max()
            for channel, value in (("position", place), ("velocity", speed))
        ]

    found = [off(run) for run in (*dry, paper("P2 friction"), paper("P2 hybrid"))]
    places, speeds = np.array(found).T
    assert places.min() > 0.5e-3 and places.max() < 0.65e-3
    np.testing.assert_allclose(speeds, [4.179] * 11 + [3.539], rtol=2e-3)
