"""Several starts of a fit advanced together, one simulation each per round: on all cores, or in one batch."""

import contextlib
import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from .errors import StudyError

CORES, BATCH = "cores", "batch"


@dataclasses.dataclass(frozen=True)
class Ask:
    """What a start wants to know: residuals, or residuals and Jacobian, of `problem` at u up to a horizon."""

    problem: object
    what: str
    u: np.ndarray
    horizon: float

    def answer(self):
        return getattr(self.problem, self.what)(self.u, self.horizon)


def asking(walk, problem, horizon):
    """The questions of a walk, put to a problem; returns what the walk returns."""
    answer = None
    try:
        while True:
            what, u = walk.send(answer)
            answer = yield Ask(problem, what, u, horizon)
    except StopIteration as end:
        return end.value


def advance(courses, problem, abreast=None):
    """Run generators of `Ask` to their ends, all of them a question further per round.

    `abreast`: "cores" answers on as many threads as there are cores, each with the numbers it would have alone; "batch"
    answers equal questions in one vectorised program. None takes cores on a CPU, where batches of Jacobians are no
    faster (docs/fitting.md), and batches elsewhere.
    """
    if abreast not in (None, CORES, BATCH):
        raise StudyError(f'fit: abreast `{abreast}` is unknown; give "cores" or "batch".')
    batched = jax.default_backend() != "cpu" if abreast is None else abreast == BATCH
    compiled, most = set(), len(courses)
    with ThreadPoolExecutor(_cores()) as pool:
        waiting = _moved(courses, [None] * len(courses))
        while waiting:
            courses, asks = zip(*waiting, strict=True)
            if batched and most > 1:
                _look_ahead(problem, asks, most)
            waiting = _moved(courses, _answers(asks, pool, compiled))


def _moved(courses, answers):
    """Courses that go on, with their next questions."""
    found = []
    for course, answer in zip(courses, answers, strict=True):
        with contextlib.suppress(StopIteration):
            found.append((course, course.send(answer)))
    return found


def _answers(asks, pool, compiled):
    """What each ask is answered. The first of a kind compiles, so the others wait for it."""
    found = [None] * len(asks)
    later = []
    for k, ask in enumerate(asks):
        if ask.what in compiled and len(asks) > 1:
            later.append(k)
        else:
            compiled.add(ask.what)
            found[k] = ask.answer()
    for k, answer in zip(later, pool.map(lambda k: asks[k].answer(), later), strict=True):
        found[k] = answer
    return found


def _look_ahead(problem, asks, most):
    """Simulate equal questions in one batch, always of the same size: one compilation, and the same numbers again."""
    points = {}
    for ask in asks:
        points.setdefault((ask.what, ask.horizon), []).append(ask.u)
    problem.look_ahead({kind: np.array(us + us[:1] * (most - len(us))) for kind, us in points.items()})


def _cores():
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
