"""P1, slider-crank with revolute clearance: what the results section says, reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import diffrax
import numpy as np
import pytest
from papers import (
    CASES,
    balanced,
    dissipated,
    ends_of_stroke,
    paper,
    roughness,
    size,
    turned,
    variation,
)

import mbjax as mb

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("P1 cylinder")])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


REACTIONS = ("A.reaction.x", "A.reaction.z")
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


def test_soft_contact_hides_the_size_of_the_clearance_of_the_bearing():
    """P1's conclusions, differences between sizes of clearances are "difficult to be appraised" where the stiffness is
    underestimated: reproduced. The crank's angles after 5 s with 1 um, .1 mm, 1 mm are within .14 rad and the energy
    lost within 1 % at 5e6 N/m^1.5; 54.7, 10.9, 3.2 rad and 7e-4, .28, .57 J at 5e6 N/mm^1.5."""
    soft = [paper(name) for name in CYLINDERS]
    assert np.ptp([turned(run)[-1] for run in soft]) < 0.3
    stiff = [turned(paper(f"{name}, N/mm"))[-1] for name in CYLINDERS]
    assert stiff[0] > 54 and 5 < stiff[1] < 20 and stiff[2] < 5


def test_damping_delays_the_slider_at_null_clearance_only_without_the_clip():
    """P1 figure 11, at null clearance "just the existence of the damping" delays the slider: refuted as printed (clip)
    in N/mm^1.5, 8.706 turns in 5 s with e 1 and with e .75 (8e-6 J lost; ideal 8.71), reproduced with the ratio within
    -1 and 1, 7.05 turns (.080 J). In N/m^1.5 the crank makes no more than .87, .75, .56 turns: it stops with e 1, too,
    though nothing is lost."""
    stiff = [paper(f"P1 cylinder 0{law}, N/mm") for law in (", e 1", "", ", symmetric")]
    np.testing.assert_allclose([turned(run)[-1] / (2 * np.pi) for run in stiff], [8.706, 8.706, 7.049], atol=5e-3)
    lost = [dissipated(run) for run in stiff]
    assert abs(lost[0]) < 1e-9 and 1e-6 < lost[1] < 1e-4 and lost[2] == pytest.approx(0.0799, rel=0.02)
    soft = [paper(f"P1 cylinder 0{law}") for law in (", e 1", "", ", symmetric")]
    assert abs(dissipated(soft[0])) < 1e-9 and max(turned(run).max() for run in soft) < 2 * 2 * np.pi


def test_undamped_bearing_at_null_clearance_oscillates_after_the_end_of_the_stroke():
    """P1 figure 13, without damping oscillations develop "mostly as a result of the slider reaching its end of stroke":
    reproduced in N/mm^1.5 (e 1), second differences of the reaction along x and z are 3.1 and 1.8 times as large within
    .03 s after an end of the stroke as elsewhere; not in N/m^1.5, 1.4 and .93 times. "Alternate periods of free-flight
    and contact": refuted, at clearance 0 the depth is the distance of the axes and no strip is ever open. "Damping
    eliminates the oscillations": total variation of the reaction along z over the ideal one 13 with e 1, 1.7 as
    printed, .70 with the ratio within -1 and 1 (N/mm^1.5), 22, 15, .24 (N/m^1.5)."""

    def after_ends(run, channel):
        rough, ts = np.abs(np.diff(np.asarray(run[channel]), 2)), np.asarray(run.ts)[1:-1]
        ends = ends_of_stroke(run)
        since = ts - ends[np.maximum(np.searchsorted(ends, ts) - 1, 0)]
        begun = ts > ends[0]
        return rough[begun & (since < 0.03)].mean() / rough[begun & (since >= 0.03)].mean()

    soft, stiff = paper("P1 cylinder 0, e 1"), paper("P1 cylinder 0, e 1, N/mm")
    assert after_ends(stiff, "A.reaction.x") > 2 and after_ends(stiff, "A.reaction.z") > 1.4
    assert after_ends(soft, "A.reaction.x") < 1.8 and after_ends(soft, "A.reaction.z") < 1.3
    for run in (soft, stiff):  # the strips alone: `A.touching` counts the axial stops, too
        assert (np.asarray(run.states.memory.points.mode)[1:, :4] != 0).all()
    ideal = variation(paper("P1 ideal"), "A.reaction.z")
    laws = (", e 1", "", ", symmetric")
    soft, stiff = (
        [variation(paper(f"P1 cylinder 0{law}{unit}"), "A.reaction.z") / ideal for law in laws]
        for unit in ("", ", N/mm")
    )
    assert stiff[0] > 6 and 1.2 < stiff[1] < 2.5 and stiff[2] == pytest.approx(0.699, rel=0.05)
    assert soft[0] > 11 and soft[1] > 8 and soft[2] < 0.5


def test_reaction_of_the_bearing_along_x_and_z_by_clearance():
    """P1 figure 12, along x and z. "No oscillations" at null clearance: refuted, total variation over the ideal one
    3.0, 15 (N/m^1.5), 1.5, 1.7 (N/mm^1.5), with 1 um 1.5, 1.8 (N/mm^1.5); reproduced with the ratio within -1 and 1,
    .23, .24. "Higher as the clearance increases": reproduced, in the first .5 s (before cranks stop) .89, 1.15, 1.21
    along x and .69, 1.4, 3.8 along z with 1 um, .1 mm, 1 mm, in N/mm^1.5 1.3, 5.3, 40 and 1.6, 3.9, 25."""

    def shaken(name, end=5.0):
        run, ideal = paper(name), paper("P1 ideal")
        early = np.asarray(run.ts) < end
        return [
            np.abs(np.diff(np.asarray(run[channel])[early])).sum()
            / np.abs(np.diff(np.asarray(ideal[channel])[early])).sum()
            for channel in REACTIONS
        ]

    assert min(shaken("P1 cylinder 0")) > 2 and max(shaken("P1 cylinder 0, symmetric")) < 0.3
    for name in ("P1 cylinder 0, N/mm", "P1 cylinder 1 um, N/mm"):
        assert min(shaken(name)) > 1.2 and max(shaken(name)) < 2.5
    for unit in ("", ", N/mm"):
        grown = np.array([shaken(f"{name}{unit}", 0.5) for name in CYLINDERS])
        assert np.all(np.diff(grown, axis=0) > 0)


def test_reaction_of_the_bearing_does_not_oscillate_mostly_in_the_middle_of_the_stroke():
    """P1 figure 12, oscillations "mostly during the slider mid-stroke": refuted. Second differences of the reaction
    along z in the middle half of the stroke and in the outer quarters: .38, .47 (.1 mm), 1.3, 1.8 N (1 mm), in N/mm^1.5
    3.7, 5.7 and 3.5, 9.0 N (ideal .01, .74 N)."""
    for unit in ("", ", N/mm"):
        for name in CYLINDERS[1:]:
            middle, outer = roughness(paper(f"{name}{unit}"), "A.reaction.z")
            assert 0.01 < middle < outer


def test_friction_calms_the_bearing_at_null_clearance():
    """P1, text to figure 13, friction "mitigates the oscillatory behavior" in some cases: reproduced at clearance 0
    (Ambrosio's, .1, N/m^1.5): total variation of the reaction along x and z .08 and .23 times that without friction in
    5 s, .66 and .82 times in the first .5 s; .57 J lost against .20 J."""
    free, rubbing = paper("P1 cylinder 0"), paper("P1 cylinder 0, friction")
    early = np.asarray(free.ts) < 0.5
    for channel, whole, first in (("A.reaction.x", 0.15, 0.8), ("A.reaction.z", 0.4, 0.95)):
        assert variation(rubbing, channel) < whole * variation(free, channel)
        calm, wild = (np.abs(np.diff(np.asarray(run[channel])[early])).sum() for run in (rubbing, free))
        assert calm < first * wild
    assert dissipated(rubbing) > 2 * dissipated(free)


def test_coarse_implicit_integration_masks_oscillations():
    """P1, text to figure 13, integrators "with internal damping can also mask" the oscillations: reproduced at
    clearance 0 (N/m^1.5). With Kvaerno5 at rtol 1e-3 total variation of the reaction along x and z is .84 to .87, .49
    to .58 times (four runs) that of Dopri8 at rtol 1e-8, where it lies within .95 to 1.01, 1.00 to 1.15 times."""
    system = mb.assemble(CASES["P1 cylinder 0"][0]())
    coarse = {"solver": diffrax.Kvaerno5(), "steps": mb.Adaptive(rtol=1e-3)}
    run = mb.simulate(system, mb.initial_state(system), np.linspace(0.0, 5.0, 1001), **coarse)
    ratios = [variation(run, channel) / variation(paper("P1 cylinder 0"), channel) for channel in REACTIONS]
    assert 0.75 < ratios[0] < 0.93 and 0.35 < ratios[1] < 0.75
