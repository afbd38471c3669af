"""Rows of the table about mechanisms with clearance."""

from . import planar_clearance as p2

PLAIN = "plain run"
STEP = "clearance, planar, a step of free flight"
SENSITIVITIES = "clearance, planar, 4 sensitivities"
LIMITS = (2.5e-6, 6e-7)  # m, of the four-bar
PLANAR = [("tree", "DOPRI5"), ("tree", "RK44"), ("rigid bodies", "trapezoidal index 2")]
FOUR_BAR = [("tree", "DOPRI5"), ("rotation vector", "trapezoidal index 2")]
# Slower, or (RK67, generalized alpha) no better than their neighbours.
PLANAR_FULL = [("tree", "RK67"), ("tree", "trapezoidal index 2"), ("rigid bodies", "generalized alpha")]
FOUR_BAR_FULL = [
    ("tree", "RK44"),
    ("tree", "trapezoidal index 2"),
    ("rotation vector", "generalized alpha"),
    ("Euler parameters", "trapezoidal index 2"),
]


def cases(repeats, full):
    """Group, name, task and arguments of every row."""
    group, common = f"clearance, planar, relative error {p2.LIMIT:g}", {"limit": p2.LIMIT, "repeats": repeats}
    for solver in ("Dopri8", "Tsit5"):
        yield group, f"mbjax {solver}", "mbjax_contact:planar", {"solver": solver, **common}
    for rates in ("floats", "NumPy"):
        yield group, f"SciPy DOP853, located, {rates}", "scipy_clearance:measure", {"rates": rates, **common}
    for formulation, solver in PLANAR + (PLANAR_FULL if full else []):
        arguments = {"formulation": formulation, "solver": solver, **common}
        yield group, f"Exudyn {formulation}, {solver}", "exudyn_clearance:measure", arguments
    for limit in LIMITS:
        group, common = f"clearance, four-bar, error {limit:g} m", {"limit": limit, "repeats": repeats}
        for solver in ("Dopri8", "Tsit5"):
            yield group, f"mbjax {solver}", "mbjax_contact:four_bar", {"solver": solver, **common}
        for formulation, solver in FOUR_BAR + (FOUR_BAR_FULL if full else []):
            arguments = {"formulation": formulation, "solver": solver, **common}
            what = formulation if formulation == "tree" else f"rigid bodies, {formulation}"
            yield group, f"Exudyn {what}, {solver}", "exudyn_four_bar:measure", arguments
    for watched, what in ((False, f"nothing in the pin, {PLAIN}"), (True, "clearance in the pin")):
        yield STEP, f"mbjax {what}", "mbjax_contact:free_flight", {"watched": watched, "repeats": repeats}
    for adjoint in (None, "Tangents", "ForwardMode"):
        arguments = {"adjoint": adjoint, "repeats": repeats}
        yield SENSITIVITIES, f"mbjax {adjoint or PLAIN}", "mbjax_contact:sensitivities", arguments
