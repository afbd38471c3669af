"""P1, slider-crank with spherical clearance: what the results section says, reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import numpy as np
import pytest
from papers import (
    CASES,
    balanced,
    dissipated,
    ends_of_stroke,
    ensemble,
    paper,
    roughness,
    size,
    turned,
    turning_times,
    variation,
)

import mbjax as mb

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("P1 ideal", "P1 sphere"))])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


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


STIFFNESS = "B.interface.normal.elastic.stiffness"


def test_crank_is_delayed_by_clearance():
    """P1 figure 9, the crank angle too is delayed with more clearance. It ends at 54.73 rad ideally: reproduced in
    N/mm^1.5, 54.72 rad with 1 um, 54.26 to 54.38 (sixteen runs) with .1 mm, 42.4 to 50.3 (24 runs) with 1 mm. In
    N/m^1.5 delayed, but not in the order of the clearances: 32.7, 45.9, 30.6 rad."""
    ideal = turned(paper("P1 ideal"))[-1]
    soft = [turned(paper(name))[-1] for name in SPHERES]
    np.testing.assert_allclose([ideal, *soft], [54.73, 32.72, 45.91, 30.56], atol=0.1)
    assert turned(paper("P1 sphere 1 um, N/mm"))[-1] == pytest.approx(54.724, abs=0.005)
    names = (f"P1 sphere {clearance}, N/mm" for clearance in (".1 mm", "1 mm"))
    small, large = ([turned(run)[-1] for run in ensemble(name, STIFFNESS, 6)] for name in names)
    assert min(small) > 54.1 and max(small) < 54.55 and np.median(large) < 51


def test_crank_is_delayed_without_dissipation_as_well():
    """P1 figures 8, 9, delay "in virtue of the energy dissipation": refuted as the reason (1 mm, N/m^1.5). With e .5,
    .75 the crank ends at 20.0 and 30.6 rad, .18 and .17 J are lost; with e 1 nothing is lost, and it is 3.3 to 65 rad
    late (24 runs, ideally at 54.73): energy goes from the crank into the play of the joint. With e 1 in N/mm^1.5 it is
    1.7 to 36 rad late, in the middle (2.9) less than half as much as with e .75 (6.7)."""
    ideal = turned(paper("P1 ideal"))[-1]
    for name, angle, lost in (("P1 sphere 1 mm, e .5", 19.96, 0.183), ("P1 sphere 1 mm", 30.56, 0.171)):
        assert turned(paper(name))[-1] == pytest.approx(angle, abs=0.1)
        assert dissipated(paper(name)) == pytest.approx(lost, rel=0.1)
    late = {}
    for name in ("P1 sphere 1 mm, e 1", "P1 sphere 1 mm, e 1, N/mm", "P1 sphere 1 mm, N/mm"):
        runs = ensemble(name, STIFFNESS, 12)
        late[name] = [ideal - turned(run)[-1] for run in runs]
        assert (", e 1" in name) == (max(abs(dissipated(run)) for run in runs) < 1e-9)
    soft, lossless, stiff = late.values()
    assert min(soft) > 1 and min(lossless) > 0.5 and np.median(lossless) < 0.75 * np.median(stiff)


def test_crank_stops_turning_even_with_little_dissipation():
    """P1's conclusions, "even with contact models in which the energy dissipation is small" the crank is "unable" to go
    on turning: in part, with e .95 (1 mm, N/m^1.5): within 5 s it turns back in 10 of 24 runs, after 5 to 6 turns,
    and makes at most 7.0 turns (ideally 8.7). Even with e 1, where nothing is lost, it turns back in 18 of 24, after 3
    to 8 turns."""
    for law, back, most in ((", e .95", 1, 7.5), (", e 1", 5, 8.7)):
        angles = [turned(run) for run in ensemble(f"P1 sphere 1 mm{law}", STIFFNESS, 12)]
        assert max(angle.max() for angle in angles) < most * 2 * np.pi
        assert sum(angle.max() - angle[-1] > 0.05 for angle in angles) >= back


def test_smaller_clearance_ends_as_a_pendulum_later():
    """P1, "for longer simulations" in the end the crank is "unable to complete a rotation": reproduced with .1 mm
    (N/m^1.5), it comes back after 9.99 turns at 7.5 s (1 mm: 4.96 turns) and then swings between 9.1 and 9.9 turns
    until 20 s."""
    run = paper("P1 sphere .1 mm, long")
    turns, ts = turned(run) / (2 * np.pi), np.asarray(run.ts)
    assert turns.max() == pytest.approx(9.990, abs=5e-3) and ts[turns.argmax()] == pytest.approx(7.455, abs=0.02)
    assert turns[ts > 8].min() > 8.9


def test_size_of_the_clearance_matters_where_it_is_large():
    """P1's conclusions, clearances are determinant if large, "almost unobservable" at machining tolerances: reproduced
    in N/mm^1.5, the slider is up to .08, .6, 23 mm off the ideal motion in 5 s with 1 um, 10 um, .1 mm, and by its
    whole stroke of 105 mm with 1 mm; refuted in N/m^1.5, where 1 um puts it off by the whole stroke."""
    ideal = np.asarray(paper("P1 ideal")["slider.position.x"])

    def off(name):
        return np.abs(np.asarray(paper(name)["slider.position.x"]) - ideal).max() / np.ptp(ideal)

    shares = [off(f"P1 sphere {c}, N/mm") for c in ("1 um", "10 um", ".1 mm", "1 mm")]
    assert shares[0] < 1.5e-3 and 2e-3 < shares[1] < 1e-2 and 0.15 < shares[2] < 0.3 and shares[3] > 0.6
    assert off("P1 sphere 1 um") > 0.9


def test_soft_contact_mixes_up_the_sizes_of_the_clearance():
    """P1's conclusions, differences between sizes of clearances are "difficult to be appraised" where the stiffness is
    underestimated: reproduced. The crank is behind after 5 s by 22, 9, 24 rad with 1 um, .1 mm, 1 mm at 5e6 N/m^1.5; by
    2.7, 3.3, 11 to 23 rad at 5e7, .12, .37, 11 to 24 rad at 5e8 (twelve runs), .0016, .4, 4 to 12 rad at 1.58e11: 1 mm
    over 1 um 1.1, 4 to 8, 90 to 210 and more than 2000 times."""
    ideal = turned(paper("P1 ideal"))[-1]
    ts = np.linspace(0.0, 5.0, 1001)

    def late(clearance, stiffness):
        system = mb.assemble(mb.library.slider_crank_3d_spherical_clearance(clearance=clearance))
        start = mb.initial_state(system)
        run = mb.simulate(system.bind({STIFFNESS: stiffness}), start, ts, steps=mb.Adaptive(rtol=1e-8))
        return ideal - turned(run)[-1]

    soft = [ideal - turned(paper(name))[-1] for name in SPHERES]
    rows = [[late(c, stiffness) for c in (1e-6, 1e-4, 1e-3)] for stiffness in (5e7, 5e8)]
    hard = [ideal - turned(paper(f"P1 sphere {c}, N/mm"))[-1] for c in ("1 um", ".1 mm", "1 mm")]
    assert soft[1] < soft[0] and soft[2] / soft[0] < 1.5
    assert all(np.all(np.diff(row) > 0) for row in (*rows, hard))
    ratios = [row[2] / row[0] for row in (*rows, hard)]
    assert 2 < ratios[0] < 12 and 50 < ratios[1] < 400 and ratios[2] > 1000


def test_reaction_peaks_where_the_slider_turns_round():
    """P1 figure 10, "large peaks at the instants that the slider reaches its end": reproduced. Of the highest places of
    the reaction along x, those above half of the largest, nine tenths lie within .001 s of an end of the stroke
    (ideal), .0024, .0035, .014 s (1 um, .1 mm, 1 mm), .012 s (.1 mm, N/mm^1.5): a half stroke lasts .29 s."""
    bounds = {"P1 ideal": 0.002, SPHERES[0]: 0.004, SPHERES[1]: 0.006, SPHERES[2]: 0.02, "P1 sphere .1 mm, N/mm": 0.04}
    for name, bound in bounds.items():
        run = paper(name)
        force, ts, ends = np.abs(np.asarray(run["B.reaction.x"])), np.asarray(run.ts), ends_of_stroke(run)
        inner = np.arange(1, force.size - 1)
        top = inner[(force[inner] > force[inner - 1]) & (force[inner] >= force[inner + 1])]
        top = top[force[top] > 0.5 * force.max()]
        assert len(top) >= 3
        assert np.quantile(np.abs(ts[top][:, None] - ends[None, :]).min(axis=1), 0.9) < bound


def test_reaction_oscillates_in_the_middle_of_the_stroke():
    """P1 figure 10, with clearance oscillations "during the slider mid-stroke": reproduced. Second differences of the
    reaction along x in the middle half of the stroke are 25, 32, 116 to 134 times the ideal joint's with 1 um, .1 mm, 1
    mm, in N/mm^1.5 2, 180, 370 to 650 times (1 um: the middle of six runs). In the outer quarters they are larger in
    every run."""
    ideal, _ = roughness(paper("P1 ideal"), "B.reaction.x")
    for unit, bounds in (("", (20, 25, 80)), (", N/mm", (1.5, 80, 200))):
        for clearance, bound in zip(("1 um", ".1 mm", "1 mm"), bounds, strict=True):
            name = f"P1 sphere {clearance}{unit}"
            runs = [paper(name)] if clearance == ".1 mm" or not unit else ensemble(name, STIFFNESS, 6)
            middle, outer = np.median([roughness(run, "B.reaction.x") for run in runs], axis=0)
            assert bound * ideal < middle < outer


def test_less_dissipation_costs_more_steps_in_a_soft_contact():
    """P1's conclusions, "less energy dissipation" means higher frequencies and smaller steps: reproduced from e .75 on
    (1 mm, N/m^1.5, six runs each): 5 600 to 8 300, 10 500 to 11 500, 16 300 to 21 500 steps with e .75, .95, 1; total
    variation of the reaction 1.6 to 1.8, 2.5 to 3.0, 20 to 72 times the ideal one. Refuted from .5 (11 200 steps) to
    .75, and in N/mm^1.5: 80 000 to 101 000 steps with e .75, 19 000 to 54 000 with e 1."""
    steps, shaken = {}, {}
    for law in (", e .5", "", ", e .95", ", e 1", ", N/mm", ", e 1, N/mm"):
        runs = ensemble(f"P1 sphere 1 mm{law}", STIFFNESS, 6)
        steps[law] = [int(run.statistics.steps) for run in runs]
        shaken[law] = np.median([variation(run, "B.reaction.x") for run in runs]) / variation(
            paper("P1 ideal"), "B.reaction.x"
        )
    assert max(steps[""]) < min(steps[", e .95"]) and max(steps[", e .95"]) < min(steps[", e 1"])
    assert shaken[""] < 2 < shaken[", e .95"] < 5 < 10 < shaken[", e 1"]
    assert max(steps[""]) < min(steps[", e .5"]) and max(steps[", e 1, N/mm"]) < 0.8 * min(steps[", N/mm"])


def test_violation_of_constraints_does_not_shorten_steps():
    """P1's conclusions, violated constraints bring higher frequencies that shorten steps: refuted for Baumgarte's
    feedback, 556 steps (violation up to 1e-11 m) against 561 with projection (4e-16 m), ideal mechanism."""
    system = mb.assemble(mb.library.slider_crank_3d())
    options = {"steps": mb.Adaptive(rtol=1e-8)}
    strict = mb.simulate(system, mb.initial_state(system), [0.0, 5.0], **options)
    loose = mb.simulate(system, mb.initial_state(system), [0.0, 5.0], stabilisation=mb.Baumgarte(), **options)
    assert size(strict, "constraints.violation") < 1e-14 < 1e-13 < size(loose, "constraints.violation") < 1e-9
    assert int(loose.statistics.steps) < 1.1 * int(strict.statistics.steps)
