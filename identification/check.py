"""Before a fit: do the data, the model, its derivatives and the information in the data carry it?"""

import dataclasses

import numpy as np

import mbjax as mb

from .information import GOOD, PINNED, verdicts

_DIFFERENCE = 1e-4  # of a parameter
_SAMPLES_PER_CONTACT = 0.2  # longest sampling step over the duration of a contact that passes without a remark
_AGREE = 1e-2  # largest miss of a derivative, of its column


@dataclasses.dataclass(frozen=True)
class Check:
    """What was looked at. `ok` says whether a fit makes sense; `problems` why not."""

    verdicts: tuple
    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    horizon: float  # s, up to which derivatives can be trusted
    derivative_error: dict[str, float]

    @property
    def ok(self):
        return not self.problems

    @property
    def identifiable(self):
        return all(v.word in GOOD for v in self.verdicts)

    def __str__(self):
        width = max(len(v.name) for v in self.verdicts) if self.verdicts else 0
        lines = [f"{v.name.ljust(width)}  {v}" for v in self.verdicts]
        lines += [f"note: {r}" for r in self.remarks]
        lines += [f"problem: {p}" for p in self.problems]
        lines.append("ready to fit" if self.ok else "not ready to fit")
        return "\n".join(lines)


def check(problem, *, horizon=None, trials=3, seed=0):
    """Look at data, model, derivatives and Fisher information at the start of a problem.

    Derivatives are compared with differences on the first `horizon` seconds (default: up to where the motion can be
    trusted to 1 %); `trials` random points within the bounds must simulate as well.
    """
    problems, remarks = [], []
    for run in problem.runs:
        remarks.extend(f"{run.experiment.name}: {r}" for r in run.experiment.remarks)
    trusted = _trusted(problem, remarks)
    horizon = min(trusted, problem.longest) if horizon is None else horizon
    u = problem.space.start
    point = problem.linearised(u, horizon)
    if point is None:
        problems.append("the model cannot be simulated at the start; try other start values or a shorter horizon.")
        return Check((), tuple(problems), tuple(remarks), horizon, {})
    errors = _derivative_errors(problem, u, horizon, point[1])
    for name, error in errors.items():
        if error > _AGREE:
            problems.append(
                f"the derivative by `{name}` misses differences by {100 * error:.2g} % up to {horizon:.3g} s; tighten "
                "`steps` or shorten the horizon."
            )
    found = verdicts(problem.names, point[1], np.zeros(u.size, dtype=bool))
    for v in found:
        if v.word not in GOOD:
            problems.append(f"`{v.name}` is not identifiable from these data: {v}.")
    failed = 0
    random = np.random.default_rng(seed)
    low = np.where(np.isfinite(problem.space.lower), problem.space.lower, u - 0.5)
    high = np.where(np.isfinite(problem.space.upper), problem.space.upper, u + 0.5)
    for _ in range(trials):
        failed += problem.residuals(random.uniform(low, high), horizon) is None
    if failed:
        remarks.append(f"the model fails at {failed} of {trials} random points within the bounds; fits may be slow.")
    return Check(found, tuple(problems), tuple(remarks), float(horizon), errors)


def _trusted(problem, remarks):
    """s, shortest trust horizon over the experiments with contacts; remarks on their sampling, too."""
    shortest = np.inf
    for run in problem.runs:
        if not run.contacts:
            continue
        e = run.experiment
        system, state = run.start(problem.space.start)
        remarks.extend(_sampling(run, system, state))
        ts = np.linspace(run.times[0], run.times[-1], 201)
        trust = mb.trust_horizon(system, state, ts, steps=problem.steps)
        reach = float(trust.horizon) - run.times[0]
        if reach < run.times[-1] - run.times[0]:
            remarks.append(
                f"{e.name}: small errors grow {float(trust.rate):.3g} 1/s; point by point comparison can be trusted to "
                f"about {reach:.3g} s of {run.times[-1] - run.times[0]:.3g} s from this start."
            )
            shortest = min(shortest, reach)  # one that can be trusted to its end limits no other
    return shortest


def _sampling(run, system, state):
    """A remark where contacts are over before a few samples are taken."""
    ends = run.times[[0, -1]]
    motion = mb.simulate(system, state, ends, steps=mb.Adaptive(rtol=1e-6), events=400, throw=False)
    since, lasted = {}, []
    for event in motion.events.table():
        point = event["connection"], event["point"]
        if event["event"] == "touch":
            since[point] = event["time"]
        elif event["event"] == "release" and point in since:
            lasted.append(event["time"] - since.pop(point))
    if not lasted:
        return
    contact, step = float(np.median(lasted)), float(np.median(np.diff(run.times)))
    if step > _SAMPLES_PER_CONTACT * contact:
        yield (
            f"{run.experiment.name}: half of the {len(lasted)} contacts are over within {contact:.2g} s, samples are "
            f"{step:.2g} s apart: what goes on inside a contact is seen by its outcome alone."
        )


def _derivative_errors(problem, u, horizon, jacobian):
    errors = {}
    for k, name in enumerate(problem.names):
        size = np.linalg.norm(jacobian[:, k])
        best = np.inf
        for h in (_DIFFERENCE, 0.05 * _DIFFERENCE):
            ends = [problem.residuals(u + s * h * np.eye(u.size)[k], horizon) for s in (1, -1)]
            if ends[0] is None or ends[1] is None:
                continue
            miss = np.linalg.norm((ends[0] - ends[1]) / (2 * h) - jacobian[:, k])
            # What a column too small to pin its parameter misses is noise of the differences.
            best = min(best, miss / max(size, 1 / PINNED))
        errors[name] = float(best)
    return errors
