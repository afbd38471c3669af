"""Fitting a problem: stages of growing horizon, a fitter in each, deviations and verdicts at the end."""

import dataclasses
import importlib.metadata
import time

import numpy as np

from . import levenberg_marquardt
from .abreast import Ask, advance, asking
from .book import Book
from .errors import StudyError
from .information import covariance, verdicts
from .optax_walk import optax_walk
from .result import FitResult
from .walk import CONVERGED, EXHAUSTED, RESIDUALS, Walk

_EARLY = 1e-5  # tolerance of all stages but the last: what they leave off grows with chaos in the next one
_REACH = 3.0  # of a logarithm per step, a factor of 20: a weak direction may promise e^100, which takes minutes to fail
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
    abreast=None, checkpoint=None, note=None,
):  # fmt: skip
    """Fit and return a `FitResult`.

    - `method`: "lm" (bounded Levenberg-Marquardt) or an Optax optimiser such as `optax.adam(0.02)` or
      `optax.lbfgs(1.0, linesearch=None)`, which then makes `most` steps per horizon with the gradient of forward
      sensitivities.
    - `horizons`: increasing times (s) up to which samples are compared, one stage each; None grows them by factors of
      2 from a sixteenth of the recording where the mechanism has contacts, and takes everything at once elsewhere.
    - `starts`: number of starts; the first is the given one, the others are drawn from `seed` within bounds (or within
      a factor 3). All are advanced together. The best fit is returned; the costs of all are in its history.
    - `candidates`: of so many points, simulated side by side up to the first horizon, the given one and the best
      others become the starts. Default: no more than there are starts.
    - `abreast`: how several starts share the machine, "cores" or "batch" (one vectorised program); None takes cores on
      a CPU and a batch on an accelerator.
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
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise StudyError(f"fit: starts {starts!r} must be a whole number of at least 1.")
    walk_by = levenberg_marquardt.steps if method == "lm" else optax_walk(method)
    book = Book(problem, checkpoint, settings)
    begin = time.perf_counter()
    message, interrupted = "", False

    def told(track, where, cost, step):
        values = ", ".join(
            f"{n} {v:.6g}" for n, v in zip(problem.names, problem.space.outward(track.walk.u), strict=True)
        )
        note(
            f"start {book.tracks.index(track) + 1}, {where}, iteration {track.walk.iteration}: cost {cost:.6g}, "
            f"step {step:.1e}, {values} ({time.perf_counter() - begin:.0f} s)"
        )

    try:
        if not book.tracks:
            drawn = _starting_points(problem, candidates or starts, seed)
            book.begin(_screened(problem, drawn, starts, horizons[0], note), problem.sigmas)
        courses = [
            _course(problem, walk_by, horizons, tolerance, most, book, track, told)
            for track in book.tracks
            if not track.done
        ]
        advance(courses, problem, abreast)
    except KeyboardInterrupt:
        interrupted, message = True, "interrupted; this is the best so far"
    best = book.best()
    if best is None and interrupted:
        raise KeyboardInterrupt
    if best is None:
        raise StudyError("fit: the mechanism cannot be simulated at the start; run `check` for the reason.")
    problem.sigmas = [np.array(s) for s in best["sigmas"]]
    horizon = best["horizon"]
    message = message or best["status"]
    if message == EXHAUSTED:
        message = f"exhausted after {most} steps at a horizon; `most` allows more"
    return _result(problem, np.array(best["u"]), horizon, horizons, book, message, interrupted)


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


def _course(problem, walk_by, horizons, tolerance, most, book, track, note):
    """One start through all its stages: a generator of `Ask` (`abreast`)."""
    space = problem.space
    estimated = any(run.estimated.any() for run in problem.runs)
    rounds = _ROUNDS if estimated else 1
    while track.round < rounds:
        # The noise is estimated at the full horizon: later rounds need no growth.
        stages = horizons if track.round == 0 else horizons[-1:]
        here = problem.with_sigmas(track.sigmas)
        while track.stage < len(stages):
            horizon = stages[track.stage]

            def record(walk, cost, step, horizon=horizon, here=here, stages=stages):
                track.note(here, cost, horizon)
                book.history.append(
                    {"start": book.tracks.index(track), "horizon": horizon, "iteration": walk.iteration, "cost": cost,
                     "x": space.outward(walk.u).tolist()}
                )  # fmt: skip
                book.write()
                note(track, f"horizon {horizon:.3g} s ({track.stage + 1}/{len(stages)})", cost, step)

            last = track.stage == len(stages) - 1
            stage = here
            if not last:
                if track.hold is None:
                    track.hold = _misfit((yield Ask(here, RESIDUALS, track.walk.u, horizon)))
                stage = _Held(here, track.first, track.hold)
            steps = walk_by(
                track.walk, space.lower, space.upper, reach=np.where(space.log, _REACH, np.inf),
                tolerance=tolerance if last else _EARLY, most=most, note=record,
            )  # fmt: skip
            _, point = yield from asking(steps, stage, horizon)
            if point is None:
                if track.reached is not None:
                    track.reached["status"] = f"the simulation fails before {horizon:.3g} s"
                track.done = True
                return
            track.note(here, 0.5 * float(point[0] @ point[0]), horizon, track.walk.status)
            track.stage, track.hold = track.stage + 1, None
            # The next stage sees the same valley a little further: damped no more than it turned out to need here.
            damping = min(track.walk.damping, Walk.damping)
            track.walk = Walk(track.walk.u, damping, iteration=track.walk.iteration)
        track.round += 1
        track.stage = 0
        if track.round < rounds:
            track.sigmas = [s.tolist() for s in _estimated_sigmas(here, track.walk.u, horizons[-1])]
    track.done = True
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
    deviance = problem.deviance(chisqr, horizon)
    # Residuals larger than the noise, or correlated: fewer independent samples than there are.
    inflation = max(1.0, np.sqrt(redchi * max(1.0, (1 + correlation) / max(1 - correlation, 1e-3))))
    inflation = 1.0 if inflation < 1.2 else float(inflation)
    cov_scaled = covariance(jacobian) * inflation**2
    slope = space.slope(u)
    with np.errstate(invalid="ignore"):
        cov = np.where(cov_scaled == 0, 0.0, cov_scaled * np.outer(slope, slope))
        deviation = np.sqrt(np.diag(cov_scaled))
        correl = np.where(np.eye(unknown) > 0, 1.0, cov_scaled / np.outer(deviation, deviation))
    ends = [np.clip(u + side * 1.959964 * deviation, space.lower, space.upper) for side in (-1, 1)]
    ends = np.stack([space.outward(end) for end in ends], axis=-1)
    at_bound = (u <= space.lower + 1e-9) | (u >= space.upper - 1e-9)
    return FitResult(
        names=problem.names, units=tuple(p.unit for p in problem.parameters), x=space.outward(u),
        start=space.outward(space.start), u=u, fun=r, jac=jacobian, cov=cov, cov_scaled=cov_scaled,
        stderr=np.sqrt(np.diag(cov)), interval=ends, correl=correl, chisqr=chisqr, redchi=redchi,
        aic=deviance + 2 * unknown, bic=deviance + unknown * float(np.log(count)), inflation=inflation,
        nfev=sum(1 for _ in book.history), success=not interrupted and message == CONVERGED, message=message,
        horizon=float(horizon), horizons=tuple(horizons),
        verdicts=verdicts(problem.names, jacobian, at_bound, inflation), channels=tuple(channels),
        history=tuple(book.history),
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
