"""Fitting a problem: stages of growing horizon, a fitter in each, deviations and verdicts at the end."""

import dataclasses
import importlib.metadata
import json
import pathlib
import time

import numpy as np

from mbjax.files import Atomic

from . import levenberg_marquardt as lm
from .errors import StudyError
from .information import covariance, verdicts
from .result import FitResult

_EARLY = 1e-5  # tolerance of all stages but the last: what they leave off grows with chaos in the next one
_ROUNDS = 3  # of estimating the noise where it is not given


def growing_horizons(problem, first=None, factor=2.0):
    """Horizons (s) from `first` (default: a sixteenth of the longest recording) to all of it."""
    longest = problem.longest
    first = longest / 16 if first is None else first
    if not 0 < first <= longest:
        raise StudyError(f"fit: the first horizon {first:g} s must lie between 0 and the recording's {longest:g} s.")
    found = [longest]
    while found[-1] / factor >= first * (1 - 1e-12):
        found.append(found[-1] / factor)
    return tuple(reversed(found))


def fit(
    problem, *, method="lm", horizons=None, starts=1, candidates=None, seed=0, tolerance=1e-8, most=100,
    checkpoint=None, note=None,
):  # fmt: skip
    """Fit and return a `FitResult`.

    - `method`: "lm" (bounded Levenberg-Marquardt) or an Optax optimiser such as `optax.adam(0.02)` or
      `optax.lbfgs(1.0, linesearch=None)`, which then makes `most` steps per horizon with the gradient of forward
      sensitivities.
    - `horizons`: increasing times (s) up to which samples are compared, one stage each; None grows them by factors of
      2 from a sixteenth of the recording where the mechanism has contacts, and takes everything at once elsewhere.
    - `starts`: number of starts; the first is the given one, the others are drawn from `seed` within bounds (or within
      a factor 3). The best fit is returned; the costs of all are in its history.
    - `candidates`: of so many points, simulated side by side up to the first horizon, the given one and the best
      others become the starts. Default: no more than there are starts.
    - `checkpoint`: a JSON file that is rewritten after every step; if it exists and belongs to the same problem, the
      fit goes on from there, with the same numbers as without the break.
    - `note(line)`: where progress goes. Ctrl-C ends the fit and returns the best so far.
    """
    horizons = _horizons(problem, horizons)
    note = note or (lambda line: None)
    settings = {"seed": seed, "starts": starts, "method": _label(method), "most": most}
    if candidates is not None:
        settings["candidates"] = candidates
        if candidates < starts:
            raise StudyError(f"fit: {candidates} candidates are fewer than {starts} starts.")
    book = _Book(problem, checkpoint, settings)
    begin = time.perf_counter()
    message, interrupted = "", False
    try:
        if not book.points:
            drawn = _starting_points(problem, candidates or starts, seed)
            book.points = [u.tolist() for u in _screened(problem, drawn, starts, horizons[0], note)]
        for k, start in enumerate(book.points):
            if k < book.start or (k == book.start and book.done):
                continue
            book.begin_start(k, start)
            _one_start(problem, method, horizons, tolerance, most, book, note, begin)
    except KeyboardInterrupt:
        interrupted, message = True, "interrupted; this is the best so far"
    best = book.best()
    if best is None:
        raise StudyError("fit: the mechanism cannot be simulated at the start; run `check` for the reason.")
    problem.sigmas = [np.array(s) for s in best["sigmas"]]
    horizon = best["horizon"]
    return _result(problem, np.array(best["u"]), horizon, horizons, book, message or best["status"], interrupted)


def _label(method):
    return method if isinstance(method, str) else "optax"


def _horizons(problem, given):
    if given is None:
        contacts = any(run.contacts for run in problem.runs)
        return growing_horizons(problem) if contacts else (max(problem.longest, 1.0),)
    given = tuple(float(h) for h in given)
    if not given or any(b <= a for a, b in zip((0.0, *given), given, strict=False)):
        raise StudyError(f"fit: horizons {given} must be positive and increase.")
    return given


def _starting_points(problem, count, seed):
    space = problem.space
    random = np.random.default_rng(seed)
    reach = np.where(space.log, np.log(3.0), 1.0)
    low = np.where(np.isfinite(space.lower), space.lower, space.start - reach)
    high = np.where(np.isfinite(space.upper), space.upper, space.start + reach)
    return [space.start, *(random.uniform(low, high) for _ in range(count - 1))]


def _screened(problem, points, starts, horizon, note):
    """The given start and the best of the other points."""
    if len(points) == starts:
        return points
    costs = problem.costs(np.array(points), horizon)
    failed = int(np.sum(~np.isfinite(costs)))
    order = 1 + np.argsort(costs[1:], kind="stable")
    kept = [0, *(k for k in order[: starts - 1] if np.isfinite(costs[k]))]
    best = costs[order[0]]
    note(f"{len(points)} candidates up to {horizon:.3g} s: best cost {best:.6g}, given {costs[0]:.6g}, {failed} failed")
    return [points[k] for k in kept]


_KEPT = ("points", "start", "first", "hold", "stage", "round", "done", "finished", "history", "sigmas")


class _Book:
    """Where a fit stands, and its file."""

    def __init__(self, problem, path, settings):
        self.path = None if path is None else pathlib.Path(path)
        self.key = {
            "names": list(problem.names),
            "starts": problem.space.start.tolist(),
            "data": problem.digests(),
            **settings,
        }
        self.points = []  # where the starts begin
        self.start, self.stage, self.round, self.done = 0, 0, 0, False
        self.first, self.hold = [], None  # u where this start began; how far off the stage was at its beginning
        self.walk, self.finished, self.history = None, [], []
        self.sigmas = [s.tolist() for s in problem.sigmas]
        if self.path is not None and self.path.exists():
            self._read()
        problem.sigmas = [np.array(s) for s in self.sigmas]

    def _read(self):
        try:
            table = json.loads(self.path.read_text())
        except (OSError, ValueError) as error:
            raise StudyError(
                f"{self.path}: the checkpoint cannot be read ({error}); delete it to begin anew."
            ) from None
        if table["key"] != self.key:
            raise StudyError(f"{self.path}: this checkpoint belongs to another study; delete it to begin anew.")
        if any(name not in table for name in _KEPT):
            raise StudyError(f"{self.path}: this checkpoint is of another version of mbjax; delete it to begin anew.")
        for name in _KEPT:
            setattr(self, name, table[name])
        self.walk = None if table["walk"] is None else lm.Walk.from_json(table["walk"])

    def write(self):
        if self.path is None:
            return
        table = {k: getattr(self, k) for k in ("key", *_KEPT)}
        table["walk"] = None if self.walk is None else self.walk.to_json()
        with Atomic(self.path, "w") as file:
            json.dump(table, file)

    def begin_start(self, k, u):
        if self.walk is None or k != self.start:
            self.start, self.stage, self.round, self.done = k, 0, 0, False
            self.walk, self.hold = lm.Walk(np.array(u, dtype=float)), None
            self.first = self.walk.u.tolist()

    def best(self):
        candidates = list(self.finished)
        if self.walk is not None and not self.done and self.history:
            row = self.history[-1]
            here = {"u": self.walk.u.tolist(), "cost": row["cost"], "horizon": row["horizon"], "sigmas": self.sigmas}
            candidates.append({**here, "status": "unfinished"})
        longest = max((c["horizon"] for c in candidates), default=None)
        return min((c for c in candidates if c["horizon"] == longest), key=lambda c: c["cost"], default=None)


def _one_start(problem, method, horizons, tolerance, most, book, note, begin):
    space = problem.space
    estimated = any(run.estimated.any() for run in problem.runs)
    rounds = _ROUNDS if estimated else 1
    while book.round < rounds:
        # The noise is estimated at the full horizon: later rounds need no growth.
        stages = horizons if book.round == 0 else horizons[-1:]
        while book.stage < len(stages):
            horizon = stages[book.stage]

            def record(state, cost, step, horizon=horizon):
                book.history.append(
                    {"start": book.start, "horizon": horizon, "iteration": state.iteration, "cost": cost,
                     "x": space.outward(state.u).tolist()}
                )  # fmt: skip
                book.write()
                values = ", ".join(f"{n} {v:.6g}" for n, v in zip(problem.names, space.outward(state.u), strict=True))
                note(
                    f"start {book.start + 1}, horizon {horizon:.3g} s ({book.stage + 1}/{len(stages)}), iteration "
                    f"{state.iteration}: cost {cost:.6g}, step {step:.1e}, {values} "
                    f"({time.perf_counter() - begin:.0f} s)"
                )

            step = lm.walk if method == "lm" else _optax_walk(method)
            last = book.stage == len(stages) - 1
            stage = problem
            if not last:
                if book.hold is None:
                    book.hold = _misfit(problem.residuals(book.walk.u, horizon))
                stage = _Held(problem, book.first, book.hold)
            _, point = step(
                book.walk,
                lambda u, h=horizon, p=stage: p.residuals(u, h),
                lambda u, h=horizon, p=stage: p.linearised(u, h),
                space.lower, space.upper, tolerance=tolerance if last else _EARLY, most=most, note=record,
            )  # fmt: skip
            if point is None:
                book.finished.append(
                    {"u": book.walk.u.tolist(), "cost": np.inf, "horizon": horizon, "sigmas": book.sigmas,
                     "status": "the simulation fails here"}
                )  # fmt: skip
                book.done = True
                return
            status, cost = book.walk.status, 0.5 * float(point[0] @ point[0])
            book.stage, book.hold = book.stage + 1, None
            # The next stage sees the same valley a little further: damped no more than it turned out to need here.
            damping = min(book.walk.damping, lm.Walk.damping)
            book.walk = lm.Walk(book.walk.u, damping, evaluations=0, iteration=book.walk.iteration)
        book.round += 1
        book.stage = 0
        if book.round < rounds:
            book.sigmas = [s.tolist() for s in _estimated_sigmas(problem, book.walk.u, horizons[-1])]
            problem.sigmas = [np.array(s) for s in book.sigmas]
    book.finished.append(
        {"u": book.walk.u.tolist(), "cost": cost, "horizon": horizons[-1], "sigmas": book.sigmas, "status": status}
    )
    book.done = True
    book.write()


def _misfit(r):
    """Root mean square of whitened residuals, at least 1: by how much more noise would explain them."""
    return 1.0 if r is None else max(1.0, float(np.sqrt(np.mean(r * r))))


class _Held:
    """A problem whose parameters are held near a start, by a deviation of 1 in the space of the fit (and as much noise
    as explains the `misfit`): what an early stage cannot tell yet stays where it was, and does not wander off."""

    def __init__(self, problem, start, misfit):
        self.problem, self.start, self.weight = problem, np.array(start), misfit

    def residuals(self, u, horizon):
        found = self.problem.residuals(u, horizon)
        return None if found is None else np.concatenate([found, self.weight * (u - self.start)])

    def linearised(self, u, horizon):
        found = self.problem.linearised(u, horizon)
        if found is None:
            return None
        rows, slopes = self.weight * (u - self.start), self.weight * np.eye(u.size)
        return np.concatenate([found[0], rows]), np.concatenate([found[1], slopes])


def _estimated_sigmas(problem, u, horizon):
    found = []
    for run, sigma in zip(problem.runs, problem.sigmas, strict=True):
        inside, model = run.predict(u, horizon)
        rows = run.kept & inside[:, None]
        off = np.where(rows, model - np.where(run.kept, run.measured, 0.0), 0.0)
        rms = np.sqrt(np.sum(off**2, axis=0) / np.maximum(rows.sum(axis=0), 1))
        # Never below rounding of the signal: data without noise have no noise to estimate.
        floor = 1e-12 * np.nanmax(np.abs(run.measured), axis=0)
        found.append(np.where(run.estimated, np.maximum(rms, floor), sigma))
    return found


def _follows(kind, memory):
    """Whether an optimiser's state has a part of that kind (or is it)."""
    if isinstance(memory, kind):
        return True
    return isinstance(memory, tuple) and any(_follows(kind, part) for part in memory)


def _optax_walk(optimiser):
    """A walk by an Optax optimiser. Steps of L-BFGS are halved until the cost falls (Armijo): Optax's own line searches
    want to trace the objective."""
    if not (hasattr(optimiser, "init") and hasattr(optimiser, "update")):
        raise StudyError(f"fit: method {optimiser!r} is neither `lm` nor an Optax optimiser.")

    def walk(state, residuals, linearised, lower, upper, *, tolerance, most, note):
        import optax

        point = linearised(state.u)
        if point is None:
            state.status = "failed"
            return state, None
        memory = optimiser.init(state.u)
        best = (0.5 * point[0] @ point[0], state.u, point)
        cost, u = best[0], state.u
        searched = _follows(optax.ScaleByLBFGSState, memory)
        for _ in range(most):
            gradient = point[1].T @ point[0]
            try:
                update, memory = optimiser.update(gradient, memory, u)
            except TypeError as error:
                raise StudyError(
                    f"fit: this optimiser wants more than gradients ({error}); L-BFGS is optax.lbfgs(1.0, "
                    "linesearch=None), its steps are searched here."
                ) from None
            move, after = np.asarray(update), None
            for _ in range(30 if searched else 10):  # a failed simulation is a rejected step
                trial = np.clip(u + move, lower, upper)
                allowed = cost + 1e-4 * gradient @ (trial - u) if searched else np.inf
                found = residuals(trial) if searched else ()
                if found is not None and 0.5 * np.dot(found, found) <= allowed:
                    after = linearised(trial)
                state.evaluations += 1
                if after is not None:
                    break
                move = 0.5 * move
            if after is None:
                state.status = lm.STUCK
                break
            new, step = 0.5 * after[0] @ after[0], float(np.max(np.abs(trial - u)))
            u, point = trial, after
            if new < best[0]:
                best = (new, u, point)
            state.u, state.iteration = best[1], state.iteration + 1
            note(state, best[0], step)
            if step < tolerance or abs(cost - new) <= tolerance * 1e-3 * cost:
                state.status = lm.CONVERGED
                break
            cost = new
        state.u, state.status = best[1], state.status or lm.EXHAUSTED
        return state, best[2]

    return walk


def _result(problem, u, horizon, horizons, book, message, interrupted):
    space = problem.space
    point = problem.linearised(u, horizon)
    if point is None:
        raise StudyError("fit: the simulation fails at the best parameters; tighten the bounds.")
    r, jacobian = point
    count, unknown = r.size, u.size
    chisqr = float(r @ r)
    free = max(count - unknown, 1)
    redchi = chisqr / free
    channels, correlation = _channels(problem, u, horizon)
    # -2 log likelihood: with an estimated noise chi-square alone is the number of samples for every model.
    trained = [c for c in channels if c["role"] == "train"]
    deviance = chisqr + sum(c["samples"] * float(np.log(2 * np.pi * c["sigma"] ** 2)) for c in trained)
    # Residuals larger than the noise, or correlated: fewer independent samples than there are.
    inflation = max(1.0, np.sqrt(redchi * max(1.0, (1 + correlation) / max(1 - correlation, 1e-3))))
    inflation = 1.0 if inflation < 1.2 else float(inflation)
    cov_scaled = covariance(jacobian) * inflation**2
    slope = space.slope(u)
    with np.errstate(invalid="ignore"):
        cov = np.where(cov_scaled == 0, 0.0, cov_scaled * np.outer(slope, slope))
        deviation = np.sqrt(np.diag(cov_scaled))
        correl = np.where(np.eye(unknown) > 0, 1.0, cov_scaled / np.outer(deviation, deviation))
    ends = np.stack([space.outward(u - 1.959964 * deviation), space.outward(u + 1.959964 * deviation)], axis=-1)
    at_bound = (u <= space.lower + 1e-9) | (u >= space.upper - 1e-9)
    return FitResult(
        names=problem.names, units=tuple(p.unit for p in problem.parameters), x=space.outward(u),
        start=space.outward(space.start), u=u, fun=r, jac=jacobian, cov=cov, cov_scaled=cov_scaled,
        stderr=np.sqrt(np.diag(cov)), interval=ends, correl=correl, chisqr=chisqr, redchi=redchi,
        aic=deviance + 2 * unknown, bic=deviance + unknown * float(np.log(count)), inflation=inflation,
        nfev=sum(1 for _ in book.history), success=not interrupted and message == lm.CONVERGED, message=message,
        horizon=float(horizon), horizons=tuple(horizons), verdicts=verdicts(problem.names, jacobian, at_bound),
        channels=tuple(channels), history=tuple(book.history),
        provenance={
            "versions": {n: importlib.metadata.version(n) for n in ("jax", "jaxlib", "diffrax", "numpy", "scipy")},
            "settings": {k: v for k, v in book.key.items() if k not in ("names", "starts")},
            "bounds": [dataclasses.asdict(p) for p in problem.parameters],
        },
    )  # fmt: skip


def _channels(problem, u, horizon):
    found, largest = [], 0.0
    for run, sigma, e in zip(problem.runs, problem.sigmas, problem.experiments, strict=True):
        inside, model = run.predict(u, horizon)
        for k, compared in enumerate(e.compared):
            rows = run.kept[:, k] & inside
            off = model[rows, k] - run.measured[rows, k]
            data = run.measured[rows, k]
            spread = np.linalg.norm(data - data.mean())
            lag1 = float(off[1:] @ off[:-1] / (off @ off)) if off.size > 2 and off.any() else 0.0
            if not e.validation:
                largest = max(largest, lag1)
            found.append(
                {
                    "experiment": e.name, "channel": compared.channel,
                    "role": "validation" if e.validation else "train",
                    "sigma": float(sigma[k]), "samples": int(rows.sum()),
                    "rms": float(np.sqrt(np.mean(off**2))), "lag1": lag1,
                    "fit_percent": float(100 * (1 - np.linalg.norm(off) / spread)) if spread else float("nan"),
                }
            )  # fmt: skip
    return found, min(largest, 0.999)
