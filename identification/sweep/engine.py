import contextlib
import hashlib
import time

import jax
import numpy as np

import mbjax as mb

from ..errors import StudyError
from ..measure import AbstractMeasure, labels_of
from .kernel import Kernel, Task, pack_for
from .result import SweepResult, as_texts
from .samples import as_samples
from .store import ARRAYS, Store, make_manifest, merge


def sweep(
    mechanism, samples, measure, ts, *, out=None, channels=(), positions=None, speeds=None, solver=None, steps=None,
    max_steps=1_000_000, chunk=64, shard=None, executor=None, devices=None, note=None,
):  # fmt: skip
    """Simulate every variant and keep a few numbers of each; a `SweepResult`.

    - `samples`: `grid({path: values})`, `uniform(...)`, `Samples`, or `{path: column}`.
    - `measure`: one or several of `identification.measure` (or `Custom(names, function)`), reduced on the device.
      `channels` are kept whole, at `ts`; ask for few.
    - `ts`: output times (s); only what the measures need (events do not).
    - `out`: a folder. Chunks that are in it already are not computed again: a sweep that was stopped, or killed, goes
      on where it was, with the same bits. Without a folder everything stays in memory.
    - `chunk`: variants per file, one compiled program.
    - `shard` (i, n): only chunks i, i + n, ... (i from 1 to n), for many machines; `merge(out)` when all are done.
      Returns None. `this_process()` is the shard of a process of `jax.distributed`.
    - `executor`: any `concurrent.futures.Executor` with processes of its own (or Dask's `client.get_executor()`); each
      computes whole chunks, this process writes them.
    - `devices`: JAX devices to use (default: all local ones), each takes its part of every chunk.
    - `note(line)`: where progress goes.

    A failed variant is a row with a code, a reason and NaN; it changes no other row. Ctrl-C leaves all finished chunks.
    """
    samples = as_samples(samples)
    measures = (measure,) if isinstance(measure, AbstractMeasure) else tuple(measure)
    for m in measures:
        if not isinstance(m, AbstractMeasure):
            raise StudyError(f"sweep: {m!r} is not a measure; wrap a function as `measure.Custom(names, function)`.")
    if not measures and not channels:
        raise StudyError("sweep: nothing is kept; give at least one measure.")
    if not (isinstance(chunk, int) and chunk > 0):
        raise StudyError(f"sweep: chunk {chunk!r} must be a positive whole number.")
    ts = np.asarray(ts, dtype=float)
    task = Task(
        mechanism, samples.paths, measures, ts, positions, speeds, solver, mb.Adaptive() if steps is None else steps,
        max_steps, tuple(channels), pack_for(len(samples)),
    )  # fmt: skip
    chunk = min(chunk, len(samples))
    manifest = make_manifest(_key(task), samples, labels_of(measures), task.channels, ts, chunk)
    wanted = _shard(manifest["chunks"], shard, out)
    store = None if out is None else Store(out)
    if store is not None:
        store.open(manifest, samples)
    todo, kept = [], {}
    for k in wanted:
        arrays = None if store is None else _sound(store, k, note)
        todo.extend([k] if arrays is None else [])
        if store is None:
            kept[k] = arrays
    tables = {k: samples.values[k * chunk : (k + 1) * chunk] for k in todo}
    progress = _Progress(len(wanted), len(todo), note)
    with contextlib.nullcontext() if shard is None else store.telling_failure(shard):
        work = _local(task, tables, chunk, devices) if executor is None else _remote(task, tables, chunk, executor)
        for k, arrays in work:
            if store is None:
                kept[k] = {**arrays, "reason": as_texts(arrays["reason"])}
            else:
                store.write_chunk(k, arrays)
            progress.step(arrays)
    if shard is not None:
        return None
    if store is not None:
        return merge(out)
    arrays = {name: np.concatenate([kept[k][name] for k in wanted]) for name in ARRAYS}
    return SweepResult.of(samples, manifest["labels"], task.channels, ts, arrays)


def this_process():
    """The shard `(i, n)` of this process among those of `jax.distributed`."""
    return jax.process_index() + 1, jax.process_count()


def _shard(chunks, shard, out):
    if shard is None:
        return list(range(chunks))
    i, n = shard
    if not 1 <= i <= n:
        raise StudyError(f"sweep: shard {i}/{n} does not exist; the first is 1/{n}, the last {n}/{n}.")
    if out is None:
        raise StudyError("sweep: a shard needs a folder `out`, which all shards share.")
    return list(range(i - 1, chunks, n))


def _sound(store, index, note):
    """A chunk that is there and undamaged, else None."""
    try:
        return store.read_chunk(index)
    except StudyError as error:
        if note is not None:
            note(f"{error} It is computed again.")
        return None


def _local(task, tables, size, devices):
    # In one process two functions of the same name are told apart by where they are.
    kernel = _kernel(_key(task, plain=str), task, devices) if tables else None
    for k, table in tables.items():
        yield k, kernel.run(table, size)


def _remote(task, tables, size, executor):
    """Chunks from the processes of an executor, in the order in which they are done."""
    from concurrent.futures import as_completed

    futures = {executor.submit(run_chunk, task, table, size): k for k, table in tables.items()}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


_KERNELS = {}  # of the last tasks, so that their chunks share one compilation
_MOST_KERNELS = 4


def _kernel(key, task, devices=None):
    """The task made ready on these devices (default: all local ones), or as it was before."""
    key = key, tuple(jax.local_devices() if devices is None else devices)
    if key not in _KERNELS:
        while len(_KERNELS) >= _MOST_KERNELS:
            del _KERNELS[next(iter(_KERNELS))]
        _KERNELS[key] = Kernel(task, devices)
    return _KERNELS[key]


def run_chunk(task, table, size):
    """One chunk in a process that may have done nothing else before."""
    jax.config.update("jax_enable_x64", True)
    return _kernel(_key(task), task).run(table, size)


def _plain(text):
    """Without addresses in memory, which differ from process to process."""
    import re

    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _key(task, plain=_plain):
    """What tells one task from another: model, measures and settings."""
    digest = hashlib.sha256()
    leaves, tree = jax.tree.flatten((task.mechanism, task.measures, task.positions, task.speeds, task.steps))
    digest.update(plain(str(tree)).encode())
    for leaf in leaves:
        digest.update(np.asarray(leaf).tobytes())
    digest.update(plain(repr((task.paths, task.solver, task.max_steps, task.channels, task.pack))).encode())
    digest.update(task.ts.tobytes())
    return digest.hexdigest()


class _Progress:
    """Lines with the time that is left and the failures so far."""

    def __init__(self, wanted, todo, note):
        self.todo, self.done, self.failed = todo, 0, 0
        self.note, self.begin = note, time.perf_counter()
        if note is not None and todo < wanted:
            note(f"{wanted - todo} of {wanted} chunks are there already")

    def step(self, arrays):
        self.done += 1
        self.failed += int((arrays["code"] != 0).sum())
        if self.note is None:
            return
        elapsed = time.perf_counter() - self.begin
        left = elapsed / self.done * (self.todo - self.done)
        self.note(
            f"chunk {self.done} of {self.todo}, {self.failed} variants failed, {elapsed:.1f} s elapsed, about "
            f"{left:.1f} s left"
        )
