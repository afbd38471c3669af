"""Profile likelihood: how the cost grows when one parameter is held and all others are fitted again."""

import dataclasses
import json

import numpy as np
from scipy import stats

from mbjax.files import Atomic

from .errors import StudyError
from .levenberg_marquardt import minimise
from .result import finite
from .walk import Walk

BOUNDED, ONE_SIDED, FLAT, FAILED = "bounded", "one-sided", "flat", "failed"
_FARTHEST = 5.0  # in the space of the fit: a factor 150 of a logarithm, five times the start on a linear scale
_LONGEST = 0.3  # step, not to leap over another valley
_GOAL = 0.5  # growth of the signed root per step


@dataclasses.dataclass(frozen=True)
class Profile:
    """Values of one parameter, and by how much the cost exceeds its minimum there.

    `shape` says what became of the interval: "bounded" (two ends), "one-sided" (one), "flat" (none: the data do not
    care), "failed" (the mechanism could not be simulated on a side that has no end). An end that was not found is NaN.
    """

    name: str
    unit: str
    level: float
    best: float
    values: np.ndarray  # increasing
    excess: np.ndarray  # chi-square above its minimum, over the square of the inflation
    others: np.ndarray  # (values, parameters) all parameters there
    low: float
    high: float
    shape: str
    better: bool  # whether a lower cost than the fit's was met: fit again from there

    def to_dict(self):
        table = dataclasses.asdict(self)
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in table.items()}

    def __str__(self):
        ends = [f"{x:.6g}" if np.isfinite(x) else "open" for x in (self.low, self.high)]
        unit = "" if self.unit in ("", "1") else f" {self.unit}"
        text = f"{self.name}: {self.best:.6g}{unit}, {100 * self.level:g} % profile {ends[0]} .. {ends[1]}"
        return f"{text} ({self.shape})" + ("; a better fit was met on the way" if self.better else "")


def save_profiles(profiles, path):
    """Write a list of profiles as JSON, in one piece."""
    with Atomic(path, "w") as file:
        json.dump(finite([p.to_dict() for p in profiles]), file, indent=1)


def profile(problem, result, name, *, level=0.95, most=40):
    """The `Profile` of one parameter around a `FitResult`, with at most `most` points on each side.

    Each side ends where the excess of chi-square passes the level, at a bound, far away, or where nothing can be
    simulated any more; it never raises for what the data are like.
    """
    if name not in problem.names:
        raise StudyError(f"profile: there is no parameter `{name}`; there are {', '.join(problem.names)}.")
    k = problem.names.index(name)
    limit = np.sqrt(stats.chi2.ppf(level, 1))
    minimum = problem.residuals(result.u, result.horizon)
    if minimum is None:
        raise StudyError("profile: the mechanism cannot be simulated at the fitted parameters.")
    held = _Held(problem, result, k, float(minimum @ minimum))
    sides = [_side(held, direction, limit, most) for direction in (-1.0, 1.0)]
    points = [(result.u, 0.0), *(p for side in sides for p in side.points)]
    points.sort(key=lambda p: p[0][k])
    outward = np.array([problem.space.outward(np.asarray(u)) for u, _ in points])
    ends = [_end(problem, held, side, limit) for side in sides]
    found = np.isfinite(ends)
    broken = any(side.failed and not ok for side, ok in zip(sides, found, strict=True))
    shape = BOUNDED if found.all() else FAILED if broken else ONE_SIDED if found.any() else FLAT
    excess = np.array([e for _, e in points])
    return Profile(
        name, problem.parameters[k].unit, level, float(result.x[k]), outward[:, k], excess, outward, *ends, shape,
        bool(excess.min() < -1e-3),
    )  # fmt: skip


class _Held:
    """The problem with one parameter held."""

    def __init__(self, problem, result, index, minimum):
        self.problem, self.index, self.minimum = problem, index, minimum
        self.u, self.horizon, self.inflation = np.array(result.u), result.horizon, result.inflation
        self.free = np.arange(self.u.size) != index
        deviation = np.sqrt(result.cov_scaled[index, index])
        self.first = _GOAL * deviation if 0 < deviation < 0.5 * _FARTHEST else 0.02

    def whole(self, value, others):
        u = np.empty_like(self.u)
        u[self.index], u[self.free] = value, others
        return u

    def fit(self, value, others):
        """All parameters and the excess of chi-square there; None where no simulation succeeds."""
        space = self.problem.space
        if not self.free.any():
            r = self.problem.residuals(self.whole(value, others), self.horizon)
            return None if r is None else (self.whole(value, others), self._excess(r))

        def residuals(v):
            return self.problem.residuals(self.whole(value, v), self.horizon)

        def linearised(v):
            point = self.problem.linearised(self.whole(value, v), self.horizon)
            return None if point is None else (point[0], point[1][:, self.free])

        lower, upper = space.lower[self.free], space.upper[self.free]
        state, point = minimise(Walk(np.array(others)), residuals, linearised, lower, upper, tolerance=1e-6, most=30)
        return None if point is None else (self.whole(value, state.u), self._excess(point[0]))

    def _excess(self, r):
        return (float(r @ r) - self.minimum) / self.inflation**2


@dataclasses.dataclass
class _Side:
    points: list
    failed: bool = False


def _side(held, direction, limit, most):
    """Walk away from the optimum, about `_GOAL` of the signed root at a time."""
    space, k = held.problem.space, held.index
    bound = (space.lower if direction < 0 else space.upper)[k]
    bound = np.clip(bound, held.u[k] - _FARTHEST, held.u[k] + _FARTHEST)
    side, step, root = _Side([]), held.first, 0.0
    here, before = held.u, None
    for _ in range(most):
        value = here[k] + direction * step
        last = direction * (bound - value) <= 0
        value = bound if last else value
        others = here[held.free]
        if before is not None and here[k] != before[k]:
            # Along the path that the others took so far.
            others = others + (value - here[k]) / (here[k] - before[k]) * (others - before[held.free])
            others = np.clip(others, space.lower[held.free], space.upper[held.free])
        found = held.fit(value, others)
        if found is None:
            found = held.fit(value, here[held.free])
        if found is None:
            step *= 0.25
            if step < 1e-3 * held.first:
                side.failed = True
                return side
            continue
        before, here = here, found[0]
        side.points.append(found)
        new = np.sqrt(max(found[1], 0.0))
        if new >= limit or last:
            return side
        step = min(_LONGEST, step * np.clip(_GOAL / max(new - root, 0.1 * _GOAL), 0.4, 4.0))
        root = new
    return side


def _end(problem, held, side, limit):
    """Where the signed root passes the limit; NaN where it does not."""
    k = held.index
    u = np.array([held.u[k], *(p[0][k] for p in side.points)])
    root = np.sqrt(np.maximum([0.0, *(p[1] for p in side.points)], 0.0))
    if root[-1] < limit:
        return float("nan")
    # The root is close to a straight line: a parabola through the last three points.
    use = slice(-3, None) if u.size > 2 and root[-3] < root[-2] < root[-1] else slice(-2, None)
    end = np.polyval(np.polyfit(root[use], u[use], u[use].size - 1), limit)
    full = held.u.copy()
    full[k] = end
    return float(problem.space.outward(full)[k])
