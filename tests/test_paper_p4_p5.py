"""P4 and P5: what the results section says, reproduced or refuted.

Every statement is quoted in short words with the variant it was tried on; the numbers are of the runs here.
"""

import numpy as np
import pytest
from papers import CASES, balanced, dissipated, ensemble, paper, size

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("P4 ", "P5 "))])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


def test_ideal_mechanism_has_one_degree_of_freedom():
    """P4 section 3: reproduced."""
    assert paper("P5 ideal").system.degrees_of_freedom == 1


def test_play_and_friction_with_little_axial_clearance():
    """P4 figure 3 (axial clearance .05 mm). "Impacts lose energy, the amplitude falls and the velocity decreases":
    reproduced with friction, stroke .137 m and .82 m/s against .149 m and 1.04 m/s ideally, .44 J lost; refuted
    without, .151 m, 1.04 m/s, .02 J. "Peaks of acceleration": reproduced, 170 to 290 against 33 m/s^2. "Friction
    lowers them": reproduced by what 99 % stay below, 81 m/s^2 without friction and 64 with it in the middle of six runs
    (72 to 84, 54 to 70); the largest peaks are as high (192, 209)."""
    ideal, free, rubbing = paper("P5 ideal"), paper("P4 frictionless"), paper("P4 Coulomb")
    stroke = [np.ptp(run["slider.position.x"]) for run in (rubbing, ideal, free)]
    assert stroke[0] < 0.95 * stroke[1] and stroke[1] < stroke[2]
    speed = [size(run, "slider.velocity.x") for run in (rubbing, ideal, free)]
    assert speed[0] < 0.9 * speed[1] and abs(speed[2] / speed[1] - 1) < 0.02
    assert min(size(run, "slider.acceleration.x") for run in (free, rubbing)) > 4 * size(ideal, "slider.acceleration.x")
    high = [
        np.median([np.quantile(np.abs(run["slider.acceleration.x"]), 0.99) for run in runs])
        for runs in ([ideal], *(ensemble(f"P4 {name}", "A.pair.clearance", 6) for name in ("Coulomb", "frictionless")))
    ]
    assert high[0] < high[1] < 0.9 * high[2]
    assert dissipated(rubbing) > 10 * dissipated(free)


def test_clearance_and_friction_in_the_spatial_slider_crank():
    """P5 figure 4. "Clearance: higher peaks of acceleration": reproduced, 1 000 to 1 400 against 33 m/s^2 ideally; 99 %
    stay below 85 to 98. "Friction: lower peaks, much more dissipation, smaller ranges": reproduced with Coulomb (48 to
    56 m/s^2 by 99 %) and Stribeck: .50 J against .10 J, position over .132 m against .159 m, velocity up to .83 against
    1.06 m/s (ideal .149 m, 1.04 m/s)."""
    ideal, free = (paper(f"P5 {name}") for name in ("ideal", "frictionless"))
    for rubbing in (paper("P5 Coulomb"), paper("P5 Stribeck")):
        peaks = [np.quantile(np.abs(run["slider.acceleration.x"]), 0.99) for run in (ideal, rubbing, free)]
        assert peaks[0] < peaks[1] < peaks[2] and size(free, "slider.acceleration.x") > 10 * peaks[0]
        assert dissipated(rubbing) > 3 * dissipated(free)
        assert dissipated(free) == pytest.approx(0.096, rel=0.1) and dissipated(rubbing) == pytest.approx(
            0.495, rel=0.05
        )
        stroke = [np.ptp(run["slider.position.x"]) for run in (rubbing, ideal, free)]
        assert stroke[0] < stroke[1] < stroke[2]
        assert size(rubbing, "slider.velocity.x") < 0.9 * size(ideal, "slider.velocity.x")


def test_any_friction_dissipates_but_bristles_do_not_calm_the_slider():
    """P5: "friction itself, regardless of the model, introduces a large amount of dissipation": reproduced, .50
    (Coulomb, Stribeck), .21 to .23 (Dahl), .32 J (LuGre) against .10 J. "Lower peaks, smaller ranges": refuted for
    Dahl and LuGre (sigma_0 1e5 N/m): 99 % of the accelerations stay below 130 and 139 m/s^2, against 88 without
    friction, and the slider moves over .159 m as without. P5's conclusion hints at it: impacts are too short for a
    bristle to bend. LuGre as printed loses less (.16 to .20 J at two tolerances) and shakes more (145 to 159 m/s^2)."""
    free = paper("P5 frictionless")
    for law, lost in {"Coulomb": 0.494, "Stribeck": 0.496, "Dahl": 0.206, "LuGre": 0.321}.items():
        assert dissipated(paper(f"P5 {law}")) == pytest.approx(lost, rel=0.25) and 0.75 * lost > 1.5 * dissipated(free)
    assert 1.2 * dissipated(free) < dissipated(paper("P5 LuGre as printed")) < 0.25
    for law in ("Dahl", "LuGre", "LuGre as printed"):
        run = paper(f"P5 {law}")
        assert np.ptp(run["slider.position.x"]) == pytest.approx(np.ptp(free["slider.position.x"]), rel=0.02)
        peaks = [np.quantile(np.abs(r["slider.acceleration.x"]), 0.99) for r in (run, free)]
        assert peaks[0] > 1.1 * peaks[1]
