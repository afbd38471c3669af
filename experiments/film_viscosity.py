"""Viscosity of a film from the orbit of its journal: a rotor that drops into its place in a short bearing.

The orbit is simulated by another method (Kvaerno5, rtol 1e-10), with 1 um of noise; the fit begins ten times off. The
same orbit tells the bearing's length only together with the viscosity: `check` says so before any fit.
"""

import diffrax
import numpy as np

import identification as ident
import mbjax as mb

from .study import verdict

NOISE = 1e-6  # m
VISCOSITY, LENGTH = "bearing.interface.film.viscosity", "bearing.interface.film.length"


def run(study):
    mechanism = mb.library.journal_bearing()
    system = mb.assemble(mechanism)
    ts = np.linspace(0.0, 0.02 if study.quick else 0.05, 201)
    steps, solver = mb.Adaptive(rtol=1e-10), diffrax.Kvaerno5()
    truth = mb.simulate(system, mb.initial_state(system), ts, steps=steps, solver=solver)
    random = np.random.default_rng(0)
    orbit = {c: np.asarray(truth[f"rotor.{c}"]) + NOISE * random.normal(size=ts.size) for c in "xy"}
    compared = [ident.Compared(f"rotor.{c}", c, sigma=NOISE) for c in "xy"]
    experiment = ident.Experiment("drop", ident.Recording(ts, orbit), compared)
    true = mechanism.value(VISCOSITY)

    def problem(*paths):
        start = {VISCOSITY: 10.0 * true, LENGTH: None}
        unknown = [ident.Parameter(p.split(".")[-1], p, start=start[p], scale="log") for p in paths]
        return ident.Problem(mechanism, unknown, [experiment])

    alone = problem(VISCOSITY)
    found = ident.fit(alone)
    both = ident.check(problem(VISCOSITY, LENGTH))
    _, model = alone.runs[0].predict(found.u)
    study.figure(
        "orbit",
        {"measured": (1e6 * orbit["x"], 1e6 * orbit["y"]), "fitted": tuple(1e6 * model.T)},
        "x [um]", "y [um]",
    )  # fmt: skip
    study.table(
        "viscosity", ["true [Pa s]", "start", "found", "deviation"],
        [[true, 10 * true, float(found.x[0]), float(found.stderr[0])]],
    )  # fmt: skip
    off = float(found.x[0] / true - 1)
    study.say("The orbit tells the viscosity.", f"{off:.1e} off, deviation {found.stderr[0] / true:.1e}",
              verdict(abs(found.x[0] - true) < 4 * found.stderr[0]))  # fmt: skip
    study.say("It does not tell viscosity and length apart.",
              "; ".join(f"{v.name}: {v}" for v in both.verdicts), verdict(not both.ok))  # fmt: skip
