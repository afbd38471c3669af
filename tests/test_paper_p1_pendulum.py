"""P1, triple pendulum: what the results section says, reproduced or refuted.

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
    of_connection,
    onwards,
    paper,
    touches,
)

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("P1 triple")])
def test_case_runs_to_the_end_with_a_balance_of_energy(name):
    assert balanced(name)


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
    """P1 figure 18, c_e 0, within the 4 s of figures 16 and 17: refuted that there are "no more contact events with any
    of the joint stops". After the first contacts of both joints (1.1 s) seven more follow until 4 s."""
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


def swings(trajectory):
    """Half swings of body 1 (rad), from one side of hanging down to the other."""
    angle = np.asarray(trajectory["R1.spin"]) - np.pi / 2
    sides = [np.abs(part).max() for part in np.split(angle, 1 + np.flatnonzero(angle[1:] * angle[:-1] < 0))]
    return np.add(sides[1:-1], sides[:-2])


def test_stops_without_restitution_are_not_left_alone_in_a_long_run():
    """P1 figure 18, c_e 0, "a long simulation": the swing decreases until there are "no more contact events" and is
    "basically constant afterwards": refuted within 60 s. Touches come in every five seconds but the sixth and the last:
    11, 7, 6, 4, 2, 0, 1, 2, 2, 2, 1, 0, the last at 50.2 s. Body 1 swings over 3.0, 1.6, .7, .4 rad in the first four
    of these and over .24 to .80 rad after that. The sliding stop is touched for the last time at 8.5 s and never
    left."""
    run = paper("P1 triple pendulum, c_e 0, long")
    times, ts, angle = touches(run), np.asarray(run.ts), np.asarray(run["R1.spin"])
    assert np.histogram(times, np.arange(0, 61, 5))[0].tolist() == [11, 7, 6, 4, 2, 0, 1, 2, 2, 2, 1, 0]
    assert times.max() == pytest.approx(50.171, abs=0.01)
    ranges = [np.ptp(angle[(ts >= start) & (ts < start + 5)]) for start in range(0, 60, 5)]
    np.testing.assert_allclose(ranges[:4], [2.981, 1.646, 0.675, 0.371], atol=2e-3)
    np.testing.assert_allclose([min(ranges[4:]), max(ranges[4:])], [0.243, 0.795], atol=2e-3)
    touch, _, release, *_ = of_connection(run, "C2")[-1]
    assert touch == pytest.approx(8.475, abs=0.01) and release is None


def test_swings_decrease_one_after_another():
    """P1, swing "decreases slightly in each period" with Lankarani-Nikravesh, "very quickly in each following period"
    with Kelvin-Voigt: reproduced as a tendency over 12 s, not for every swing. Half swings of body 1 of 3.21, 3.13,
    2.97, 2.98, 2.77, 2.70, 2.68, 2.59 rad and of 2.99, 2.67, 2.37, 2.04, 1.65, 1.27, 1.32, 1.05 rad. "Appreciable
    energy dissipation": of the .942 J between the start and hanging down 31 and 78 % are lost in 12 s, 11 and 29 % in
    4 s."""
    available = 9.81 * (0.10 * 0.3 + 0.04 * 0.9 + 0.02 * 1.5)
    for law, halves, lost in (
        ("Lankarani-Nikravesh", [3.207, 3.130, 2.972, 2.980, 2.771, 2.697, 2.683, 2.595], [0.112, 0.313]),
        ("Kelvin-Voigt", [2.986, 2.670, 2.372, 2.043, 1.652, 1.274, 1.315, 1.054], [0.290, 0.781]),
    ):
        short, run = paper(f"P1 triple pendulum, {law}"), paper(f"P1 triple pendulum, {law}, long")
        np.testing.assert_allclose(swings(run)[:8], halves, atol=3e-3)
        np.testing.assert_allclose([dissipated(short) / available, dissipated(run) / available], lost, atol=2e-3)


def test_turning_stops_rebound_with_lankarani_and_nikravesh_and_hold_with_kelvin_voigt():
    """P1 figures 16, 17, turning stops. Lankarani-Nikravesh, bodies "rebound": reproduced, two contacts of .020 s that
    are left at .82 of the speed at touch; "the other side" next: reproduced, 1.59 s later. Kelvin-Voigt, "the same
    tendency for permanent deformation" as in sliding: reproduced as a tendency, six contacts left at .04 to .23 of the
    speed, the longest of .133 s (sliding .68 s); none is permanent."""
    bounced = of_connection(paper("P1 triple pendulum, Lankarani-Nikravesh"), "R3")
    held = of_connection(paper("P1 triple pendulum, Kelvin-Voigt"), "R3")
    assert (len(bounced), len(held)) == (2, 6)
    assert bounced[1][0] - bounced[0][0] == pytest.approx(1.588, abs=2e-3)
    for found, longest, least, most in ((bounced, 0.0206, 0.819, 0.822), (held, 0.1331, 0.036, 0.229)):
        kept = [leaving / touching for _, touching, _, leaving, _ in found]
        assert max(release - touch for touch, _, release, *_ in found) == pytest.approx(longest, abs=2e-4)
        np.testing.assert_allclose([min(kept), max(kept)], [least, most], atol=2e-3)


def test_body_3_leaves_its_stop_sooner_without_gravity():
    """P1 figure 17, "it is only due to the gravitational acceleration" that body 3 leaves its stop: refuted. In the
    longest turning contact (c_e .01) it leaves .133 s after the touch; with gravity switched off from there on .044 s
    after it: the stop's spring and the other bodies bring it off, gravity holds it on."""
    run = paper("P1 triple pendulum, Kelvin-Voigt")
    start, _, end, *_ = max(of_connection(run, "R3"), key=lambda contact: contact[2] - contact[0])
    k = int(np.searchsorted(run.ts, start))
    assert run["R3.touching"][k] == 1 and end - start == pytest.approx(0.1331, abs=2e-4)
    weightless = onwards(run, k, float(run.ts[k]) + 0.2, 201, {"gravity.acceleration": np.zeros(3)})
    left = next(e for e in weightless.events.table() if e["connection"] == "R3" and e["event"] == "release")
    assert left["time"] - start == pytest.approx(0.0445, abs=2e-4)
