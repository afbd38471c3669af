"""Before the next test: which excitation, sensor or sampling would pin what the data so far cannot tell?"""

import dataclasses

import numpy as np

from .errors import StudyError
from .experiment import Compared, Experiment
from .information import covariance, verdicts
from .problem import Problem
from .recording import Recording


@dataclasses.dataclass(frozen=True)
class Planned:
    """A candidate: what the parameters' standard deviations would be with it."""

    name: str
    deviation: np.ndarray  # in the space of the fit: 0.01 is about 1 %
    stderr: np.ndarray  # in values
    verdicts: tuple


@dataclasses.dataclass(frozen=True)
class Designs:
    """Candidates, the best first; `now` is what the study has already (None without recordings)."""

    names: tuple[str, ...]
    target: str | None
    now: Planned | None
    rows: tuple[Planned, ...]

    @property
    def best(self):
        return self.rows[0]

    def __str__(self):
        rows = [*((self.now,) if self.now is not None else ()), *self.rows]
        table = [("with", *self.names)]
        table += [(r.name, *(f"{d:.2g} {v.word}" for d, v in zip(r.deviation, r.verdicts, strict=True))) for r in rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([*lines, f"expected relative deviations; ranked by {self.target or 'the worst of them'}"])


def planned(name, ts, channels, **how):
    """An experiment that has not been done: sampled at `ts` (s), `channels` maps channels to the noise of their sensors
    (SI). `how` are positions, speeds, mechanism and so on of `Experiment`."""
    nothing = np.zeros(np.size(ts))
    recording = Recording(np.asarray(ts, dtype=float), {c: nothing for c in channels})
    return Experiment(name, recording, [Compared(c, c, sigma) for c, sigma in channels.items()], **how)


def design(problem, candidates, *, at=None, target=None, horizon=np.inf):
    """Expected covariance of candidate experiments, from their Fisher information added to that of the problem.

    - `candidates`: `{name: experiment or list of experiments}`, usually made by `planned`.
    - `at`: parameter values by name (default: the problem's start; a fit's `dict(zip(fit.names, fit.x))` is better).
    - `target`: the parameter to be pinned; by default the largest deviation of all counts.

    The candidates' data are not looked at. A problem whose own experiments shall not count is one with a `planned`
    experiment of its own: information only adds.
    """
    if target is not None and target not in problem.names:
        raise StudyError(f"design: there is no parameter `{target}`. Known: {', '.join(problem.names)}.")
    if not candidates:
        raise StudyError("design: give at least one candidate.")
    values = problem.space.outward(problem.space.start) if at is None else np.array([at[n] for n in problem.names])
    u = problem.space.inward(values)
    known = _slopes(problem, u, horizon, "the study as it is")
    now = _planned("(data so far)", problem, u, known)
    rows = []
    for name, experiments in candidates.items():
        experiments = experiments if isinstance(experiments, list | tuple) else [experiments]
        more = Problem(
            problem.mechanism, problem.parameters, experiments, steps=problem.steps, solver=problem.solver,
            sensors=problem.sensors,
        )  # fmt: skip
        added = _slopes(more, u, np.inf, f"candidate `{name}`", prior=False)
        rows.append(_planned(name, problem, u, np.concatenate([known, added])))
    k = None if target is None else problem.names.index(target)
    rows.sort(key=lambda row: row.deviation.max() if k is None else row.deviation[k])
    return Designs(problem.names, target, now, tuple(rows))


def _slopes(problem, u, horizon, what, prior=True):
    """The Jacobian of whitened residuals."""
    found = problem.linearised(u, horizon)
    if found is None:
        raise StudyError(f"design: {what} cannot be simulated at these values.")
    jacobian = found[1]
    priors = sum(p.prior is not None for p in problem.parameters)
    return jacobian if prior or not priors else jacobian[:-priors]


def _planned(name, problem, u, jacobian):
    deviation = np.sqrt(np.diag(covariance(jacobian)))
    words = verdicts(problem.names, jacobian, np.zeros(u.size, dtype=bool))
    return Planned(name, deviation, deviation * np.abs(problem.space.slope(u)), words)
