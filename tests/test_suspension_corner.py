"""A corner with six bushings: compliance against a linear analysis of its own, calibration from the wheel centre."""

import numpy as np
import pytest

import identification as ident
import mbjax as mb
from experiments import suspension_corner as study
from mbjax.library.suspension_corner import _POINTS, _STRUT, _WHEEL, BUSHINGS


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def linear_displacement(radial, axial, twist, cone, spring, force):
    """Displacement of the wheel centre under a small force there: small rotations, constraints by multipliers."""
    p = {k: np.array(v) for k, v in _POINTS.items()}
    wheel = np.array(_WHEEL)
    centres = {
        "upright": wheel,
        **{a: (p[f"{a}_front"] + p[f"{a}_rear"] + p[f"{a}_ball"]) / 3 for a in ("lower", "upper")},
        "toe": (p["toe_inner"] + p["toe_outer"]) / 2,
    }
    place = {name: 6 * k for k, name in enumerate(centres)}

    def move(body, point):
        """Displacement and rotation of a body's point by all coordinates (6, 24)."""
        rows = np.zeros((6, 24))
        if body != "ground":
            k = place[body]
            rows[:3, k : k + 3], rows[:3, k + 3 : k + 6] = np.eye(3), -skew(point - centres[body])
            rows[3:, k + 3 : k + 6] = np.eye(3)
        return rows

    stiffness = np.zeros((24, 24))
    pairs = {
        **{
            f"{a}_{end}": ("ground", a, p[f"{a}_front"] - p[f"{a}_rear"])
            for a in ("lower", "upper") for end in ("front", "rear")
        },
        "toe_inner": ("ground", "toe", np.array([0, 0, 1.0])), "toe_outer": ("toe", "upright", np.array([0, 0, 1.0])),
    }  # fmt: skip
    for name in BUSHINGS:
        i, j, axis = pairs[name]
        b = axis / np.linalg.norm(axis)
        along = np.outer(b, b)
        k = np.zeros((6, 6))
        k[:3, :3] = radial * (np.eye(3) - along) + axial * along
        k[3:, 3:] = cone * (np.eye(3) - along) + twist * along
        stretch = move(j, p[name]) - move(i, p[name])
        stiffness += stretch.T @ k @ stretch
    foot, top = (np.array(x) for x in _STRUT)
    line = (top - foot) / np.linalg.norm(top - foot) @ move("lower", foot)[:3]
    stiffness += spring * np.outer(line, line)
    rows = np.concatenate([(move(a, p[f"{a}_ball"]) - move("upright", p[f"{a}_ball"]))[:3] for a in ("lower", "upper")])
    load = move("upright", wheel)[:3].T @ force
    kkt = np.block([[stiffness, rows.T], [rows, np.zeros((6, 6))]])
    return np.linalg.solve(kkt, np.concatenate([load, np.zeros(6)]))[:3]


def test_compliance_is_that_of_a_linear_analysis():
    numbers = {"radial": 4e6, "axial": 8e5, "twist": 60.0, "cone": 400.0, "spring": 7e4}
    system = mb.assemble(mb.library.suspension_corner(**numbers))
    assert system.degrees_of_freedom == 18
    state = mb.initial_state(system)

    def displacement(push):
        loaded = system.bind({"load.signal.value": 1.0, "load.direction": push})
        return np.asarray(mb.equilibrium(loaded, state).q.position[0])

    for direction in np.eye(3):
        # Half of what push and pull differ by: free of the quadratic part of large rotations.
        found = (displacement(direction) - displacement(-direction)) / 2
        expected = linear_displacement(force=direction, **numbers)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.long
def test_wheel_centre_calibrates_the_bushings():
    """Component tests give twelve stiffnesses to 20 %; forces and displacements at the wheel centre (five rigs, 5 um)
    tell what they can: radial stiffnesses of the arms to 1 %, axial ones hardly better than before, since two bushings
    of an arm share that load. Errors have the size of their deviations."""
    values = study.true_values()
    problem = study.problem(study.recordings(values, study.RIGS), study.component_tests(values))
    found = ident.fit(problem)
    assert found.success and found.redchi == pytest.approx(1, abs=0.1)
    off = np.log(found.x / np.array(list(values.values())))
    deviation = found.stderr / found.x
    assert np.abs(off / deviation).max() < 3.5 and deviation.max() < 1.3 * study.COMPONENT
    arms = [k for k, n in enumerate(found.names) if n.endswith("radial") and not n.startswith("toe")]
    assert len(arms) == 4 and np.abs(off[arms]).max() < 0.02 and deviation[arms].max() < 0.015
