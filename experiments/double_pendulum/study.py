"""Fits to three runs, predictions of the fourth."""

import dataclasses

import numpy as np

import identification as ident
import mbjax as mb
from identification.levenberg_marquardt import minimise
from identification.walk import Walk

from .laws import LAWS, absent, friction, rig, zeros
from .model import mechanism, published
from .windows import NOISE, RUNS, windows

FIT = mb.Adaptive(rtol=3e-4)
METRIC = mb.Adaptive(rtol=1e-6)
SMOOTH = {f"{part}.{field}": 0.03 for k in (1, 2) for part, field in (
    (f"friction{k}", "speed"), (f"motor{k}", "loss_speed"), (f"friction{k}", "stribeck_speed")
)}  # fmt: skip
SMOOTH |= {"friction1.stribeck_speed": 1.0, "friction2.stribeck_speed": 1.0}  # rad/s


def rms(rows):
    return float(np.sqrt(np.mean(np.square(rows))))


class Metric:
    """Errors as the data's README defines them (2 ms, 18 windows per run); each case has a mechanism for each run, and
    may have zeros of the two encoders (runs, 2).

    `strict()` knows nothing of the run but the starts of its windows. `calibrated()` also estimates the zeros, for each
    window from what was recorded before its start (the first half second of earlier windows).
    """

    def __init__(self, cases, known=None):
        self.cases = cases
        experiments = [
            dataclasses.replace(e, name=f"{case}, {e.name}", mechanism=m)
            for case, own in cases.items() for run, m in zip(RUNS, own, strict=True) for e in windows(run)
        ]  # fmt: skip
        unknown = list(zeros({e.name: [e] for e in experiments}))
        self.problem = ident.Problem(experiments[0].mechanism, unknown, experiments, steps=METRIC)
        self.count = len(experiments) // len(RUNS) // len(cases)
        self.known = np.stack([(known or {}).get(case, np.zeros((len(RUNS), 2))) for case in cases])

    def _errors(self, u):
        priors = len(self.problem.parameters)
        whole = self.problem.residuals(u)[:-priors].reshape(len(self.cases), len(RUNS), -1) * NOISE
        return {case: [rms(run) for run in own] for case, own in zip(self.cases, whole, strict=True)}

    def _before(self):
        """The zeros of all windows, as they are known before the run."""
        return np.repeat(self.known, self.count, axis=1).reshape(-1)

    def strict(self):
        return self._errors(self._before())

    def calibrated(self, rounds=3):
        u, before, deviation = self._before(), self._before(), self.problem.parameters[0].prior[1]
        for _ in range(rounds):
            parts = [run.linearised(u, 0.5, s) for run, s in zip(self.problem.runs, self.problem.sigmas, strict=True)]
            new = np.zeros_like(u)
            for first in range(0, len(parts), self.count):
                square = np.eye(2) / deviation**2
                right = square @ before[2 * first : 2 * first + 2]
                for k in range(first, first + self.count):
                    own = slice(2 * k, 2 * k + 2)
                    new[own] = np.linalg.solve(square, right)
                    residual, slope = parts[k][0], parts[k][1][:, own]
                    square, right = square + slope.T @ slope, right + slope.T @ (slope @ u[own] - residual)
            u = new
        return self._errors(u), u.reshape(len(self.cases), len(RUNS), self.count, 2)[:, :, -1]


class Fits:
    """All laws on all runs and on any three of them, from windows that do not overlap, in one compilation."""

    def __init__(self, every=2, thinned=10):
        self.runs = {run: windows(run, thinned)[::every] for run in RUNS}
        experiments = [e for run in RUNS for e in self.runs[run]]
        groups = {f"run {run}": own for run, own in self.runs.items()}
        base = mechanism(published()).with_values(SMOOTH)
        self.problem = ident.Problem(base, [*rig(), *friction(), *zeros(groups)], experiments, steps=FIT)
        self.u = self.problem.space.start

    def all_runs(self, law):
        """The problem of a law, and its fit to the four runs."""
        problem = self.problem.holding(absent(law))
        held = problem.space.lower == problem.space.upper
        problem.space.start = np.where(held, problem.space.start, self.u)
        result = ident.fit(problem, tolerance=1e-3, most=12)
        self.u = np.where(held, self.u, result.u)
        return problem, result

    def without(self, problem, result, run):
        """Parameters fitted without a run; its own zeros stay zero. The Jacobian is made anew once."""
        part = problem.held_out([e.name for e in self.runs[run]])
        own = [p.felt_in(self.runs[run][0].name) and p.experiments is not None for p in problem.parameters]
        u, rows = np.where(own, 0.0, result.u), self._rows(run, result.fun.size)
        slope = result.jac[~rows]
        for k in range(2):
            slope = part.linearised(u)[1] if k else slope
            walk = minimise(
                Walk(u), part.residuals, lambda v: (part.residuals(v), slope), problem.space.lower,
                problem.space.upper, tolerance=1e-3, most=12,
            )  # fmt: skip
            u = walk[0].u
        return u

    def drifted(self, u, run):
        """Zeros of a run (2,) as those of the others go on, linearly in the order of recording."""
        found = dict(zip(self.problem.names, self.problem.space.outward(u), strict=True))
        others = [r for r in RUNS if r != run]
        known = [[found[p.name] for p in zeros({f"run {r}": []})] for r in others]
        return np.array([np.polyval(np.polyfit(others, row, 1), run) for row in np.transpose(known)])

    def _rows(self, run, size):
        """Residuals of a run among those of the full fit; the priors come last."""
        priors = sum(p.prior is not None for p in self.problem.parameters)
        each = (size - priors) // len(RUNS)
        return (np.arange(size) // each == run) & (np.arange(size) < size - priors)

    def predicted(self, problem, result, u, run):
        """RMS of a run predicted with zero zeros, and with zeros from earlier windows, by the fit's Jacobian."""
        rows = self._rows(run, result.fun.size)
        own = [k for k, p in enumerate(problem.parameters) if p.experiments and p.felt_in(self.runs[run][0].name)]
        error = problem.residuals(u)[rows].reshape(len(self.runs[run]), -1)
        slope = result.jac[rows][:, own].reshape(*error.shape, 2)
        square, right, after = np.eye(2) / 0.05**2, np.zeros(2), []
        for e, s in zip(error, slope, strict=True):
            after.append(e + s @ np.linalg.solve(square, right))
            square, right = square + s.T @ s, right - s.T @ e
        return rms(error) * NOISE, rms(after) * NOISE


def criteria(problem, result):
    """Number of parameters, AIC and BIC. Errors of a window are one smooth curve: it counts once for each joint."""
    free = int((problem.space.lower < problem.space.upper).sum())
    count = len(result.channels)
    misfit = count * np.log(result.chisqr / result.fun.size)
    return free, float(misfit + 2 * free), float(misfit + free * np.log(count))


__all__ = ["LAWS", "Fits", "Metric", "criteria", "rms"]
