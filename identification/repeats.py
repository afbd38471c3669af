"""Spread over repeated runs: every experiment fitted alone, against the deviation that the noise explains."""

import dataclasses

import numpy as np

from .errors import StudyError
from .levenberg_marquardt import minimise
from .walk import Walk

MUCH = 2.0  # times what the noise explains: then it explains too little


@dataclasses.dataclass(frozen=True)
class Repeats:
    """Parameters (runs, parameters) of runs fitted one by one; NaN where a run does not feel one or its fit failed.

    `spread` is their standard deviation from run to run, in the unit of the value; `expected` what the noise of one run
    explains (the largest deviation of the single fits). A spread well beyond says that something changes from run to
    run that the model holds fixed: then the interval of a joint fit is too narrow, and `spread / sqrt(runs)` is the
    honest deviation of the mean.
    """

    names: tuple[str, ...]
    runs: tuple[str, ...]
    x: np.ndarray
    stderr: np.ndarray

    @property
    def mean(self):
        return _over_runs(np.mean, self.x)

    @property
    def spread(self):
        return _over_runs(lambda x: np.std(x, ddof=1), self.x)

    @property
    def expected(self):
        return _over_runs(np.max, self.stderr)

    @property
    def ratio(self):
        """How many times the noise explains of the spread."""
        return self.spread / self.expected

    def __str__(self):
        lines = ["parameter: value from run to run, spread, noise of one run"]
        for k, name in enumerate(self.names):
            values = ", ".join(f"{x:.6g}" for x in self.x[:, k])
            beyond = "  <- more than the noise explains" if self.ratio[k] > MUCH else ""
            lines.append(f"{name}: {values}; {self.spread[k]:.2g}, {self.expected[k]:.2g}{beyond}")
        return "\n".join(lines)

    def to_dict(self):
        return {
            "names": list(self.names), "runs": list(self.runs), "x": self.x.tolist(), "stderr": self.stderr.tolist(),
            "spread": self.spread.tolist(), "expected": self.expected.tolist(),
        }  # fmt: skip

    @staticmethod
    def from_dict(table):
        """From `to_dict`, or from `repeats.json`, where null stands for NaN."""
        rows = (np.array(table[key], dtype=float).reshape(len(table["runs"]), -1) for key in ("x", "stderr"))
        return Repeats(tuple(table["names"]), tuple(table["runs"]), *rows)


def _over_runs(function, rows):
    found = [r[np.isfinite(r)] for r in rows.T]
    return np.array([function(r) if r.size > 1 else np.nan for r in found])


def repeats(problem, result, *, most=50):
    """Fit every training experiment of a fitted problem alone, from the joint fit's values and with its noise.

    Parameters that a run does not feel are held. At least two runs are needed.
    """
    names = [e.name for e in problem.experiments if not e.validation]
    if len(names) < 2:
        raise StudyError("repeats: at least two experiments that are not for validation are needed.")
    if problem.links:
        raise StudyError("repeats: segments of one motion are not repeated runs.")
    values, deviations = [], []
    for name in names:
        alone = problem.held_out([e.name for e in problem.experiments if e.name != name])
        point, cov = _alone(alone, result, problem.felt_in(name), most)
        slope = problem.space.slope(point)
        with np.errstate(invalid="ignore"):
            deviations.append(np.sqrt(np.diag(cov)) * slope)
        values.append(np.where(np.isfinite(deviations[-1]), problem.space.outward(point), np.nan))
    return Repeats(problem.names, tuple(names), np.stack(values), np.stack(deviations))


def _alone(problem, result, felt, most):
    """u of the fit to one experiment, and its covariance (NaN where not felt, or where the fit failed)."""
    u, space = np.array(result.u, dtype=float), problem.space
    lower, upper = (np.where(felt, side, u) for side in (space.lower, space.upper))
    walk, point = minimise(Walk(u), problem.residuals, problem.linearised, lower, upper, most=most)
    cov = np.full((u.size, u.size), np.nan)
    if point is not None:
        own = np.flatnonzero(felt & (np.linalg.norm(point[1], axis=0) > 0))
        rows = point[1][:, own]
        if own.size and np.linalg.matrix_rank(rows) == own.size:
            cov[np.ix_(own, own)] = np.linalg.inv(rows.T @ rows)
    return walk.u, cov
