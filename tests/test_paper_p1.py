"""P1: what the results section says, reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import itertools

import numpy as np
import pytest
from papers import (
    CASES,
    balanced,
    contacts,
    dissipated,
    ensemble,
    paper,
    size,
    touches,
    turned,
    turning_times,
    variation,
)

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("P1 ")])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


# --- P1, the slider-crank with spherical clearance -----------------------------------------------------------------

SPHERES = ("P1 sphere 1 um", "P1 sphere .1 mm", "P1 sphere 1 mm")


def test_ideal_slider_crank_keeps_its_amplitude():
    """P1 figure 8, "the amplitude of the slider motion is constant": reproduced, to .1 mm (outputs every 5 ms)."""
    run = paper("P1 ideal")
    x, ends = np.asarray(run["slider.position.x"]), turning_times(run)
    assert len(ends) == 9 and np.ptp(x[np.isin(run.ts, ends)]) < 1e-4


def test_clearance_delays_the_slider_but_not_in_the_order_of_its_size():
    """P1 figures 8, 9, "delay when the clearance increases": reproduced (N/m^1.5), the fourth far end of the stroke
    comes at 2.25, 2.14, 2.31 s with 1 um, .1 mm, 1 mm, after 1.995 s ideally. That it grows with the clearance is
    refuted: 1 um loses more (.103 J) than .1 mm (.067 J)."""
    delays = [turning_times(paper(name))[3] - turning_times(paper("P1 ideal"))[3] for name in SPHERES]
    np.testing.assert_allclose(delays, [0.255, 0.145, 0.315], atol=0.011)
    np.testing.assert_allclose([dissipated(paper(name)) for name in SPHERES[:2]], [0.1033, 0.0671], rtol=0.01)


def test_delay_grows_with_the_clearance_where_the_contact_is_stiff():
    """The same in N/mm^1.5: reproduced, and in order. The fourth far end comes at 1.995, 2.005, 2.11 s with 0, .1, 1 mm
    (ideally 1.995; with 1 mm the middle of six runs, 2.10 to 2.135 s), and .004, .069 J are lost."""
    names = ("P1 sphere 0, N/mm", "P1 sphere .1 mm, N/mm", "P1 sphere 1 mm, N/mm")
    fourth = [turning_times(paper(name))[3] for name in names[:2]]
    runs = ensemble(names[2], "B.interface.normal.elastic.stiffness", 6)
    fourth.append(np.median([turning_times(run)[3] for run in runs]))
    np.testing.assert_allclose(fourth, [1.995, 2.005, 2.11], atol=0.011)
    assert np.all(np.diff(fourth) > 0) and np.all(np.diff([dissipated(paper(name)) for name in names]) > 1e-3)


def test_crank_ends_as_a_pendulum():
    """P1: "eventually the crank is unable to complete a rotation": reproduced with 1 mm (N/m^1.5): it comes back after
    4.96 turns, within the 5 s."""
    angle = turned(paper("P1 sphere 1 mm"))
    assert angle.max() == pytest.approx(31.16, abs=0.1) and angle[-1] < angle.max() - 0.4


def test_vanishing_clearance_is_a_perfect_joint_only_for_a_stiff_contact():
    """P1 figure 8 and conclusions, "null and very small clearances behave like the perfect joint": refuted with 5e6
    N/m^1.5: the slider is up to 72 to 99 mm (clearance 0, five runs) and 106 mm (1 um) off. Reproduced with 5e6
    N/mm^1.5: .02 mm (0) and .08 mm (1 um)."""
    ideal = np.asarray(paper("P1 ideal")["slider.position.x"])

    def off(run):
        return np.abs(np.asarray(run["slider.position.x"]) - ideal).max()

    null = [off(run) for run in ensemble("P1 sphere 0", "B.interface.normal.elastic.stiffness", 5)]
    assert min(null) > 0.05 and max(null) < 0.15
    assert off(paper("P1 sphere 1 um")) == pytest.approx(0.1057, rel=0.02)
    assert off(paper("P1 sphere 0, N/mm")) < 1e-4 and off(paper("P1 sphere 1 um, N/mm")) < 1.5e-4


def test_reaction_oscillates_more_with_more_clearance_but_most_with_none():
    """P1 figure 10, total variation of the reaction along x over that of the ideal joint. "Oscillations grow with the
    clearance": reproduced from 1 um (.84) over .1 mm (.91) to 1 mm (1.71). "With null clearance no oscillations":
    refuted (N/m^1.5, clip), 13 to 19 in three runs that differ by 1e-9 of the stiffness; with 1 um in N/mm^1.5 it is
    1.01 to 1.37 in six (middle 1.15)."""
    ideal = variation(paper("P1 ideal"), "B.reaction.x")
    one, tenth, whole = (variation(paper(name), "B.reaction.x") / ideal for name in SPHERES)
    assert one < tenth < 1.0 and whole > 1.4
    number = "B.interface.normal.elastic.stiffness"
    null = [variation(run, "B.reaction.x") / ideal for run in ensemble("P1 sphere 0", number, 5)]
    stiff = [variation(run, "B.reaction.x") / ideal for run in ensemble("P1 sphere 1 um, N/mm", number, 6)]
    assert min(null) > 10 and 1.0 < min(stiff) < 1.05 and np.median(stiff) < 1.3


def test_clearance_costs_steps():
    """P1's conclusions, "no evidence that clearances cost computing time": refuted, 1 048 steps with the ideal joint,
    4 400 to 15 500 with clearance."""
    ideal = int(paper("P1 ideal").statistics.steps)
    assert all(int(paper(name).statistics.steps) > 3 * ideal for name in (*SPHERES, "P1 sphere 0"))


# --- P1, the slider-crank with revolute clearance ------------------------------------------------------------------

CYLINDERS = ("P1 cylinder 1 um", "P1 cylinder .1 mm", "P1 cylinder 1 mm")


def test_crank_on_a_loose_bearing_ends_about_its_equilibrium():
    """P1 figure 11b, "at 1 mm no more than two revolutions, then oscillation about the static equilibrium": reproduced
    (N/m^1.5, bearing of 20 mm, journal not shorter): .57 turns, then within 1 rad of hanging down. But 1 um and .1 mm
    do the same here (.58 turns): the strips of 1.25e6 N/m^1.5 give 2.6 mm and let the crank tilt by .3 rad."""
    for name in CYLINDERS:
        run = paper(name)
        angle = turned(run)
        late = np.asarray(run.ts) > 3.0
        assert 3.0 < angle.max() < 4.0 and np.abs(angle[late] - np.pi).max() < 1.0
        assert 2e-3 < size(run, "A.penetration") < 3.5e-3 and size(run, "A.tilt") > 0.25


def test_delay_does_not_grow_with_the_clearance_of_the_bearing():
    """P1 figure 11a, "the end of the stroke is increasingly delayed as the clearance increases": refuted (N/m^1.5,
    bearing of 20 mm). All three leave the ideal motion within the first turn, and lose the same .57 J within 1 %."""
    lost = [dissipated(paper(name)) for name in CYLINDERS]
    np.testing.assert_allclose(lost, 0.5675, rtol=0.01)


def test_reaction_of_the_bearing_oscillates_more_with_more_clearance():
    """P1 figure 12, "amplitude of the oscillations higher as the clearance increases": reproduced, by the total
    variation of the vertical reaction."""
    assert np.all(np.diff([variation(paper(name), "A.reaction.z") for name in CYLINDERS]) > 0)


def test_null_clearance_of_the_bearing_is_a_perfect_joint_only_for_a_stiff_contact():
    """P1 figures 11a, 12: "null clearance behaves like the perfect joint": refuted in N/m^1.5 (slider off by 113 mm),
    reproduced in N/mm^1.5 (1.1 mm, with 1 um 4.1 mm)."""
    ideal = np.asarray(paper("P1 ideal")["slider.position.x"])

    def off(name):
        return np.abs(np.asarray(paper(name)["slider.position.x"]) - ideal).max()

    assert off("P1 cylinder 0") > 0.05
    assert off("P1 cylinder 0, N/mm") < 3e-3 and off("P1 cylinder 1 um, N/mm") < 8e-3


def test_a_stiff_bearing_follows_the_figure():
    """P1 figure 11 in N/mm^1.5: reproduced. The crank makes 8.71, 8.70, 1.95, .59 turns in 5 s with 0, 1 um, .1 mm,
    1 mm, and 1e-5, 7e-4, .30, .57 J are lost: the end of the stroke comes later with every step of the clearance, and
    at 1 mm it makes "no more than two revolutions"."""
    runs = [paper(f"P1 cylinder {c}, N/mm") for c in ("0", "1 um", ".1 mm", "1 mm")]
    turns = [turned(run).max() / (2 * np.pi) for run in runs]
    assert min(turns[:2]) > 8.5 and 1.5 < turns[2] < 3 and turns[3] < 1
    lost = [dissipated(run) for run in runs]
    assert np.all(np.diff(lost) > 0.1 * np.array(lost[1:]))


def test_damping_ends_the_oscillations_at_null_clearance_only_without_the_clip():
    """P1 figure 13, "the hysteresis damping eliminates the oscillations": refuted as printed (a contact that begins at
    rest has ratio 1 and loses nothing; total variation of the vertical reaction 16 times the ideal one), reproduced
    with the ratio within -1 and 1 (.24 times)."""
    ideal = variation(paper("P1 ideal"), "A.reaction.z")
    assert variation(paper("P1 cylinder 0"), "A.reaction.z") > 8 * ideal
    assert variation(paper("P1 cylinder 0, symmetric"), "A.reaction.z") < 0.5 * ideal


# --- P1, the triple pendulum ---------------------------------------------------------------------------------------


def test_stops_of_lankarani_and_nikravesh_rebound_and_lose_less():
    """P1 figures 16, 17. "Lower dissipation": reproduced, .106 J against .273 J of Kelvin-Voigt (c_e .01). "No residual
    deformation, bodies rebound": reproduced, no contact lasts longer than 21 ms."""
    impact = paper("P1 triple pendulum, Lankarani-Nikravesh")
    sticky = paper("P1 triple pendulum, Kelvin-Voigt")
    assert dissipated(impact) == pytest.approx(0.1055, rel=1e-3)
    assert dissipated(sticky) == pytest.approx(0.2730, rel=1e-3)
    durations, lasting = contacts(impact)
    assert lasting == 0 and len(durations) == 10 and durations.max() < 0.021


def test_rebounds_come_back_to_the_same_stop_more_often_than_to_the_other():
    """P1, Lankarani-Nikravesh: "soon after the contact, contact with the stop on the other side": refuted. Of the
    seven sliding contacts that follow one, two are on the other side, .73 and .50 s later; five are on the same side
    again."""
    table = paper("P1 triple pendulum, Lankarani-Nikravesh").events.table()
    sliding = [e for e in table if e["event"] == "touch" and e["connection"] == "C2"]
    later = [b["time"] - a["time"] for a, b in itertools.pairwise(sliding) if a["point"] != b["point"]]
    assert len(sliding) == 8
    np.testing.assert_allclose(later, [0.7265, 0.5036], atol=1e-3)


def test_deformation_of_kelvin_voigt_stops_lasts_but_is_not_permanent():
    """P1 figure 17, "the deformation of the translation stops becomes permanent": refuted for c_e .01. Three contacts
    of the sliding stops last .68, .66 and .61 s (.009 s at most with Lankarani-Nikravesh), but every stop is
    free before 4 s."""
    durations, lasting = contacts(paper("P1 triple pendulum, Kelvin-Voigt"))
    assert lasting == 0 and len(durations) == 13
    np.testing.assert_allclose(np.sort(durations)[-4:], [0.1331, 0.6055, 0.6620, 0.6754], atol=1e-3)


def test_stops_without_restitution_are_touched_again():
    """P1 figure 18, c_e 0: "no more contact events with any of the joint stops", the swing "basically constant
    afterwards": refuted. After the first contacts of both joints (1.1 s) seven more follow until 4 s."""
    times = touches(paper("P1 triple pendulum, c_e 0"))
    assert (times < 1.1).sum() == 2 and 5 <= (times > 1.1).sum() <= 10 and times.max() > 3.5


def test_swing_decreases_faster_with_kelvin_voigt_stops():
    """P1: swing "decreases slightly in each period" with Lankarani-Nikravesh, "very quickly" with Kelvin-Voigt:
    reproduced. Body 1 comes back to .08 rad from where it was let go, against .32 rad."""
    returned = []
    for law in ("Lankarani-Nikravesh", "Kelvin-Voigt"):
        run = paper(f"P1 triple pendulum, {law}")
        late = np.asarray(run.ts) > 2.0
        returned.append(float(np.asarray(run["R1.spin"])[late].min()))
    np.testing.assert_allclose(returned, [0.077, 0.316], atol=2e-3)
