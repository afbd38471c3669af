"""Integration in chunks of equal shape: one compilation, progress in between, and Ctrl-C keeps what is done."""

import signal
import threading
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import simulate
from ..trajectory import Result, Statistics, Trajectory

_CHUNKS = 20


class Done(NamedTuple):
    """The motion as far as it was computed."""

    trajectory: Trajectory
    interrupted: bool
    seconds: float  # of integration, compilation included
    first_seconds: float  # of the first chunk, which compiles


class _Stop:
    """Turns the first Ctrl-C into a flag; the second one acts at once."""

    def __init__(self, console):
        self.console = console
        self.wanted = False

    def __enter__(self):
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number, stack):
        self.wanted = True
        signal.signal(signal.SIGINT, self.before)
        self.console.say("stopping after this chunk; press Ctrl-C again to stop at once and lose it")

    def __exit__(self, kind, error, trace):
        if self.main:
            signal.signal(signal.SIGINT, self.before)


def integrate(system, state, ts, *, solver, steps, console):
    """Integrate from ts[0]; every chunk has as many outputs as the others (the last one overlaps its predecessor)."""
    ts = np.asarray(ts)
    intervals = len(ts) - 1
    size = max(1, -(-intervals // _CHUNKS))
    rows, reached = [jax.tree.map(lambda x: np.asarray(x)[None], state)], 0
    counts = np.zeros(3, dtype=np.int64)
    begin = time.perf_counter()
    first, result, interrupted = 0.0, None, False
    console.progress("compiling ...")
    with _Stop(console) as stop:
        while reached < intervals:
            start = min(reached, intervals - size)
            part = simulate(
                system, _row(rows, start), ts[start : start + size + 1], solver=solver, steps=steps, throw=False
            )
            jax.block_until_ready(part.states)
            result = part.result
            counts += [
                int(x) for x in (part.statistics.accepted, part.statistics.rejected, part.statistics.evaluations)
            ]
            good = _finite_rows(part.states)
            rows.append(jax.tree.map(lambda x: np.asarray(x)[reached - start + 1 : good], part.states))
            reached = start + good - 1
            first = first or time.perf_counter() - begin
            if not bool(result.success):
                break
            console.progress(_line(ts, reached, time.perf_counter() - begin, first, size))
            if stop.wanted and reached < intervals:
                interrupted = True
                break
    states = jax.tree.map(lambda *x: jnp.concatenate(x), *rows)
    statistics = Statistics(*(jnp.asarray(c) for c in counts))
    result = Result(jnp.asarray(result.code), jnp.asarray(result.time))
    trajectory = Trajectory(system, jnp.asarray(ts[: reached + 1]), states, result, statistics)
    return Done(trajectory, interrupted, time.perf_counter() - begin, first)


def _row(rows, index):
    """The state at an output that was reached already."""
    for part in rows:
        count = jax.tree.leaves(part)[0].shape[0]
        if index < count:
            return jax.tree.map(lambda x, k=index: jnp.asarray(x[k]), part)
        index -= count
    raise IndexError(index)


def _finite_rows(states):
    """Number of leading rows that were reached (the others are NaN)."""
    finite = [np.isfinite(np.asarray(x)).reshape(x.shape[0], -1).all(axis=1) for x in jax.tree.leaves(states)]
    good = np.logical_and.reduce(finite)
    return len(good) if good.all() else int(np.argmin(good))


def _line(ts, reached, elapsed, first, size):
    intervals = len(ts) - 1
    share = reached / intervals
    later = reached - size
    rate = (elapsed - first) / later if later > 0 else first / size
    left = f", about {rate * (intervals - reached):.1f} s left" if later > 0 and reached < intervals else ""
    return f"t = {ts[reached]:.6g} s ({100 * share:.0f} %), {elapsed:.1f} s elapsed{left}"
