"""P3: what the results section says, reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import numpy as np
import pytest
from papers import CASES, balanced, dissipated, ensemble, paper, size, touches, variation

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("P3 ")])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


CLEARANCES = ("P3 Threlfall .05 mm", "P3 Threlfall .1 mm", "P3 Threlfall", "P3 Threlfall .4 mm")


def test_four_bar_with_clearance_has_five_degrees_of_freedom():
    """P3: 24 coordinates (6 of the ground among them) less 19 constraints: reproduced."""
    assert paper("P3 Threlfall").system.degrees_of_freedom == 5


def test_frictionless_four_bar_shakes_most():
    """P3 figure 5, vertical motion of the rocker. "Higher peaks, more oscillations without friction": reproduced,
    acceleration up to 79 against 39 (Threlfall) and 11 m/s^2 (ideal), total variation 9 times that with friction.
    "Significantly larger velocities than ideal": refuted, .141 against .122 m/s, and .123 m/s with friction."""
    free, rubbing, ideal = (paper(f"P3 {name}") for name in ("frictionless", "Threlfall", "ideal"))
    peaks = [size(run, "rocker.acceleration.z") for run in (free, rubbing, ideal)]
    assert peaks[0] > 1.5 * peaks[1] > 3 * peaks[2]
    assert variation(free, "rocker.acceleration.z") > 5 * variation(rubbing, "rocker.acceleration.z")
    assert size(free, "rocker.velocity.z") < 1.3 * size(ideal, "rocker.velocity.z")
    assert size(rubbing, "rocker.velocity.z") == pytest.approx(size(ideal, "rocker.velocity.z"), rel=0.02)


def test_friction_dissipates_more_than_impacts():
    """P3 figure 5d, "the energy dissipated is higher with friction": reproduced, 10.3 mJ against 2.1 mJ."""
    free, rubbing = (dissipated(paper(f"P3 {name}")) for name in ("frictionless", "Threlfall"))
    assert rubbing == pytest.approx(0.01027, rel=0.01) and rubbing > 3 * free


def frictionless():
    """Ten runs without friction: after .2 s they have little in common."""
    return ensemble("P3 frictionless", "joint.pair.clearance", 10)


def test_main_impacts_come_first_only_with_friction():
    """P3 figure 6. "Main impacts in the initial phase": reproduced with friction (Threlfall: 23 touches, the last
    at .10 s), not without: after 22 touches in the first .2 s come up to 40 more after 1.2 s (in eight of ten runs),
    some of them faster (up to .049 m/s) than any before (.036 m/s). "More impacts without friction": reproduced, 34 in
    the middle of ten runs."""
    rubbing, counts, late, fastest = touches(paper("P3 Threlfall")), [], [], []
    assert rubbing.max() < 0.2 and len(rubbing) == 23
    for run in frictionless():
        times, log = touches(run), run.events
        speeds = np.asarray(log.log.speed)[log.rows("touch")]
        assert (times < 0.2).sum() == 22 and speeds[times < 0.2].max() == pytest.approx(0.0357, abs=1e-4)
        counts.append(len(times))
        late.append((times > 1.5).any())
        fastest.append(speeds.max())
    assert np.median(counts) > len(rubbing) and sum(late) >= 5 and max(fastest) > 0.037


def test_friction_ends_the_chaos():
    """P3 figure 5 and conclusions, "the response becomes chaotic" without friction, friction "makes it less chaotic":
    reproduced. A clearance that differs by a billionth moves the rocker by 1e-4 m within 2 s without friction, by
    3e-12 m with it (Threlfall)."""

    def apart(runs):
        return np.abs(np.asarray(runs[1]["rocker.position.z"] - runs[0]["rocker.position.z"])).max()

    assert apart(frictionless()) > 1e-6 and apart(ensemble("P3 Threlfall", "joint.pair.clearance", 2)) < 1e-10


def test_friction_makes_contact_permanent_early():
    """P3 figures 6, 7, "friction promotes continuous contact": reproduced, the ball lifts for the last time at .10 s
    with friction (Threlfall), after 1.5 s without (the middle of ten runs; .09 s in two of them). "Smaller impacts":
    reproduced by the squares of the first twenty speeds at touch, a third less; the first and fastest of them is the
    same."""
    rubbing, free = paper("P3 Threlfall"), frictionless()
    lifted = [np.asarray(run.ts)[np.asarray(run["joint.penetration"]) <= 0].max() for run in (rubbing, *free)]
    assert lifted[0] < 0.15 and np.median(lifted[1:]) > 1.5
    np.testing.assert_allclose(free[0]["joint.distance"], free[0]["joint.penetration"] + 0.2e-3, atol=1e-12)
    speeds = [np.asarray(run.events.log.speed)[run.events.rows("touch")][:20] for run in (free[0], rubbing)]
    free, rubbing = (np.sum(v**2) for v in speeds)
    assert rubbing < 0.85 * free and speeds[0].max() == pytest.approx(speeds[1].max(), rel=1e-6)


def test_friction_does_not_bring_the_rocker_nearer_to_the_ideal():
    """P3 figure 7e, f, with friction "closer to the ideal": refuted for the place of the rocker, 3.0 mm RMS off against
    1.3 mm without, and for its velocity, .063 against .038 m/s: the ideal joint has no friction either."""
    ideal = paper("P3 ideal")
    for channel, ratio in (("rocker.position.z", 1.5), ("rocker.velocity.z", 1.2)):
        free, rubbing = (
            np.sqrt(np.mean((np.asarray(paper(name)[channel]) - np.asarray(ideal[channel])) ** 2))
            for name in ("P3 frictionless", "P3 Threlfall")
        )
        assert rubbing > ratio * free


def test_larger_clearance_amplifies_velocity_and_acceleration():
    """P3's conclusions: reproduced for the velocity, .114, .119, .123, .132 m/s, and for the acceleration from .1 mm
    on: 28, 23, 39, 59 m/s^2 with .05, .1, .2, .4 mm."""
    runs = [paper(name) for name in CLEARANCES]
    assert np.all(np.diff([size(run, "rocker.velocity.z") for run in runs]) > 0)
    peaks = [size(run, "rocker.acceleration.z") for run in runs]
    assert max(peaks[:2]) < peaks[2] < peaks[3]


def test_cost_depends_on_the_law_of_friction():
    """P3 figure 11b, the law of friction does not change the cost: refuted here, 7 400 (Threlfall), 7 700 (Ambrosio),
    9 500 (piecewise linear), 10 700 steps (Bengisu-Akay): a static peak costs a quarter more."""
    steps = [int(paper(f"P3 {n}").statistics.steps) for n in ("Threlfall", "Ambrosio", "piecewise", "Bengisu-Akay")]
    assert steps[1] < 1.1 * steps[0] and min(steps[2:]) > 1.15 * steps[0] and max(steps) < 1.6 * steps[0]


def test_smaller_clearance_is_smoother_and_loses_less_but_is_no_nearer_to_the_ideal():
    """P3 figure 9, Threlfall, .05 to .4 mm. "Less chaotic" (total variation of the acceleration 440 to 730 m/s^2) and
    "more conservative" (9.2, 9.5, 10.3, 12.8 mJ): reproduced. "Similar to the ideal when very small": refuted, the
    rocker is off by 3.1, 3.1, 3.0, 2.9 mm RMS: friction stays."""
    ideal = np.asarray(paper("P3 ideal")["rocker.position.z"])
    lost = [dissipated(paper(name)) for name in CLEARANCES]
    assert np.all(np.diff(lost) > 0)
    rough = [variation(paper(name), "rocker.acceleration.z") for name in CLEARANCES]
    assert rough[0] < rough[2] < rough[3]
    off = [np.sqrt(np.mean((np.asarray(paper(name)["rocker.position.z"]) - ideal) ** 2)) for name in CLEARANCES]
    assert min(off) > 2.5e-3 and np.ptp(off) < 0.4e-3


def test_higher_friction_dissipates_more():
    """P3 figure 10, Threlfall, .05 to .4: reproduced, 6.6, 10.3, 15.0, 15.5 mJ."""
    names = ("P3 Threlfall mu .05", "P3 Threlfall", "P3 Threlfall mu .2", "P3 Threlfall mu .4")
    np.testing.assert_allclose(
        [dissipated(paper(n)) for n in names], [6.58e-3, 10.27e-3, 15.01e-3, 15.46e-3], rtol=0.01
    )


def test_cost_of_the_four_bar():
    """P3 figure 11, in steps. "Clearance penalises" and "friction makes it cheaper": reproduced, ideal 2 000,
    frictionless 12 500, Threlfall 7 400. "The clearance hardly matters": reproduced, 7 400 to 8 400. "Lower friction is
    slower": reproduced from .05 (8 300) to .1, refuted beyond: .4 needs 12 100."""
    cost = {name: int(paper(name).statistics.steps) for name in CASES if name.startswith("P3")}
    assert 2 * cost["P3 ideal"] < cost["P3 Threlfall"] < 0.8 * cost["P3 frictionless"]
    sizes = [cost[name] for name in CLEARANCES]
    assert max(sizes) < 1.2 * min(sizes)
    assert cost["P3 Threlfall"] < cost["P3 Threlfall mu .05"] < cost["P3 Threlfall mu .4"]


def test_static_friction_laws_of_the_four_bar_agree():
    """P3 figure 8, "the general response is quite similar" for four friction laws: reproduced. Ambrosio, Threlfall,
    piecewise linear, Bengisu-Akay: 23 touches each, 10.27 to 10.28 mJ, and rockers that stay within .05 mm of each
    other. With Hertz' stiffness of a ball *in* a socket (ten times P3's): 31 touches and the same 10.26 mJ."""
    laws = [paper(f"P3 {law}") for law in ("Threlfall", "Ambrosio", "piecewise", "Bengisu-Akay")]
    np.testing.assert_allclose([dissipated(run) for run in laws], 10.27e-3, rtol=2e-3)
    assert {len(touches(run)) for run in laws} == {23}
    heights = np.array([run["rocker.position.z"] for run in laws])
    assert np.ptp(heights, axis=0).max() < 5e-5
    assert dissipated(paper("P3 internal contact")) == pytest.approx(10.27e-3, rel=5e-3)
