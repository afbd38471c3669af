"""Errors of unseen runs, published parameters against fitted ones; friction laws ranked."""

import numpy as np

from identification.information import covariance

from .model import mechanism, published
from .study import LAWS, Fits, Metric, criteria
from .windows import RUNS

BEST = "viscous + Coulomb + gear loss"


def ranking(fits, laws, note):
    """Every law fitted to all runs and to any three."""
    found, best = {}, None
    for law in laws:
        problem, result = fits.all_runs(law)
        free, aic, bic = criteria(problem, result)
        left_out = [fits.without(problem, result, run) for run in RUNS]
        errors = np.array([fits.predicted(problem, result, u, run) for run, u in zip(RUNS, left_out, strict=True)])
        found[law] = {
            "parameters": free, "aic": aic, "bic": bic, "chisqr": result.chisqr,
            "strict": errors[:, 0].tolist(), "calibrated": errors[:, 1].tolist(),
        }  # fmt: skip
        note(f"{law:38} {free:3} {aic:8.0f} {bic:8.0f}   {errors[:, 0].mean():.4f}   {errors[:, 1].mean():.4f}")
        if law == BEST:
            best = problem, result, left_out
    return found, best


def report(problem, result):
    """Value and deviation of every free parameter. Correlated residuals widen what the data say, not the priors."""
    free = problem.space.lower < problem.space.upper
    data = np.arange(result.fun.size) < result.fun.size - sum(p.prior is not None for p in problem.parameters)
    slope = result.jac[:, free] / np.where(data, result.inflation, 1.0)[:, None]
    deviation = np.sqrt(np.diag(covariance(slope)))
    rows = zip(np.flatnonzero(free), deviation * problem.space.slope(result.u)[free], strict=True)
    return {problem.names[k]: [float(result.x[k]), float(d), problem.parameters[k].unit] for k, d in rows}


def compared(quick=False, note=print):
    """Everything, as a dictionary. `quick`: the best law alone, fewer windows, no errors as the data define them."""
    fits = Fits(every=6 if quick else 2)
    note("law, parameters, AIC, BIC, mean error of unseen runs [rad]: zeros unknown, zeros from the run's past")
    laws, (problem, result, left_out) = ranking(fits, [BEST], note)
    parameters = report(problem, result)
    for name, (value, deviation, unit) in parameters.items():
        note(f"{name:28} {value:11.5g} +- {deviation:.2g} {unit}")
    found = {"errors": {}, "ratio": {}, "laws": laws, "parameters": parameters}
    if quick:
        return found
    fitted = [problem.fitted_mechanism(u) for u in left_out]
    drifted = np.array([fits.drifted(u, run) for run, u in zip(RUNS, left_out, strict=True)])
    cases = {"published": [mechanism(published())] * len(RUNS), "left out": fitted}
    drifting = {f"{case}, zeros drift": own for case, own in cases.items()}
    metric = Metric(cases | drifting, dict.fromkeys(drifting, drifted))
    errors, (calibrated, _) = metric.strict(), metric.calibrated()
    errors |= {f"{case}, zeros calibrated": values for case, values in calibrated.items()}
    ratio = {k: float(np.mean(v) / np.mean(errors["published"])) for k, v in errors.items()}
    for label, values in errors.items():
        runs = "  ".join(f"{v:.4f}" for v in values)
        note(f"{label:28} {runs}   mean {np.mean(values):.4f}   ratio {ratio[label]:.3f}")
    laws |= ranking(fits, [law for law in LAWS if law != BEST], note)[0]
    return found | {"errors": errors, "ratio": ratio, "laws": laws}
