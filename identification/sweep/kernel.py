"""What a chunk of variants is: one compiled program from a table of numbers to a table of measures."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb
from mbjax import lanes
from mbjax.stepping.progress import MESSAGES
from mbjax.system import check_values

from ..errors import StudyError
from ..measure import events_of, labels_of

NOT_STARTED, REFUSED = -1, -2  # codes beside those of `mb.simulate`
_PACK = 32  # variants side by side on a processor
_FEW = 200  # variants for which compiling for lanes (5 s longer) does not pay


@dataclasses.dataclass(frozen=True)
class Task:
    """Everything that a chunk needs, wherever it runs."""

    mechanism: object
    paths: tuple[str, ...]
    measures: tuple
    ts: np.ndarray
    positions: dict | None
    speeds: dict | None
    solver: object
    steps: object
    max_steps: int
    channels: tuple[str, ...]
    pack: int  # variants side by side on a processor


def pack_for(variants):
    """How many of a sweep's variants go side by side on a processor."""
    return 1 if variants < _FEW else _PACK


class Kernel:
    """A task made ready on the devices of this process.

    Variants run side by side in packs (`mbjax.lanes`): on a processor a few at a time (`Task.pack`), so that one that
    takes long holds up few others; elsewhere all that the device has of a chunk. The numbers of a variant do not
    depend on its neighbours.
    """

    def __init__(self, task, devices=None):
        self.task = task
        self.system = mb.assemble(task.mechanism)
        self.labels = labels_of(task.measures)
        self.devices = list(jax.local_devices() if devices is None else devices)
        self._check()
        mesh = jax.sharding.Mesh(np.array(self.devices), ("variants",))
        spec = jax.sharding.PartitionSpec("variants")
        self.whole = self.packs  # from the chunk's table to its arrays, on all devices
        if len(self.devices) > 1:
            self.whole = jax.shard_map(self.packs, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
        self.compiled = mb.compiled(self.whole)

    def _check(self):
        task = self.task
        for path in task.paths:
            value = task.mechanism.value(path)
            if np.shape(value):
                raise StudyError(f"sweep: `{path}` is an array of shape {np.shape(value)}; name one component.")
        if events_of(task.measures) and not self.system.structure.points:
            raise StudyError("sweep: a measure of contacts, but nothing can touch in this mechanism.")
        try:
            jax.eval_shape(self.alone, jnp.zeros(len(task.paths)))
        except KeyError as error:
            raise StudyError(f"sweep: {error.args[0]}") from None

    def alone(self, row):
        """Measures, channels, code, time reached and steps of one variant."""
        return self.motion(row, self.start(row))

    def bound(self, row):
        return self.system.bind(dict(zip(self.task.paths, row, strict=True)))

    def start(self, row):
        """The initial state of a variant."""
        task = self.task
        return mb.initial_state(self.bound(row), positions=task.positions, speeds=task.speeds, t0=task.ts[0])

    def motion(self, row, state):
        """Measures and all else of a variant from its initial state."""
        task, system = self.task, self.bound(row)
        run = mb.simulate(
            system, state, task.ts, solver=task.solver, steps=task.steps, max_steps=task.max_steps,
            events=events_of(task.measures), throw=False,
        )  # fmt: skip
        good = jnp.where(run.result.success, 1.0, jnp.nan)
        numbers = jnp.concatenate([jnp.zeros(0), *(jnp.asarray(m(run), dtype=float) for m in task.measures)])
        started = jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves((state.q, state.v))]))
        return {
            "measures": good * numbers,
            "channels": run[list(task.channels)] if task.channels else jnp.zeros((0, 0)),
            "code": jnp.where(started, run.result.code, NOT_STARTED),
            "time": run.result.time,
            "steps": run.statistics.steps,
        }

    def packs(self, table):
        """Measures and all else of a table of variants, on one device."""
        count = table.shape[0]
        on_processor = self.devices[0].platform == "cpu"
        pack = min(count, self.task.pack) if on_processor else count

        if pack == 1:
            return jax.lax.map(self.alone, table)

        def together(rows):
            # Initial states are a small part of the time, but in lanes a large one of the compilation.
            states = jax.lax.map(self.start, rows) if on_processor else jax.vmap(self.start)(rows)
            last = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), (rows, states))
            found = lanes.mapped(self.motion, pack, *last)
            return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), found)

        found = jax.lax.map(together, table.reshape(count // pack, pack, -1))
        return jax.tree.map(lambda x: x.reshape(count, *x.shape[2:]), found)

    def _filled(self, count):
        """At least `count` variants, such that all devices get whole packs and equally many."""
        each = -(-count // len(self.devices))
        if self.devices[0].platform == "cpu" and each > self.task.pack:
            each = -(-each // self.task.pack) * self.task.pack
        return each * len(self.devices)

    def run(self, table, size):
        """The chunk's arrays; `table` (variants, paths) is filled up to `size` so that all chunks are one program."""
        count = len(table)
        refused = [self._refusal(row) for row in table]
        fill = self._filled(max(size, count))
        good = next((k for k, r in enumerate(refused) if not r), None)
        safe = np.array(table, dtype=float)
        if good is not None:
            safe[[bool(r) for r in refused]] = table[good]
            safe = np.concatenate([safe, np.repeat(safe[good][None], fill - count, axis=0)])
            found = {k: np.array(v)[:count] for k, v in self.compiled(jnp.asarray(safe)).items()}
        else:
            shapes = jax.eval_shape(self.alone, jnp.zeros(len(self.task.paths)))
            found = {k: np.zeros((count, *v.shape), v.dtype) for k, v in shapes.items()}
        for k, reason in enumerate(refused):
            if reason:
                found["measures"][k], found["channels"][k] = np.nan, np.nan
                found["code"][k], found["time"][k], found["steps"][k] = REFUSED, np.nan, 0
        return found | {"reason": np.array([r or word(c) for r, c in zip(refused, found["code"], strict=True)])}

    def _refusal(self, row):
        """Why the numbers of a variant are impossible, or an empty text."""
        try:
            check_values(self.task.mechanism.with_values(dict(zip(self.task.paths, row, strict=True))))
        except ValueError as error:
            return "; ".join(str(error).splitlines())
        return ""


def word(code):
    """A code in words; empty for success."""
    if code == NOT_STARTED:
        return "no consistent initial state was found"
    return "" if code == 0 else MESSAGES[int(code)]
