"""Sweeps and sensitivity studies from a study file: `[times]`, `[sweep]` and `[sensitivity]`."""

import dataclasses

import numpy as np

import mbjax as mb
from mbjax.io.faults import describe, join

from ..errors import StudyError
from ..measure.table import measure_from_table
from ..quantity import read_number
from ..sweep import Samples, grid, uniform
from .file import read_model, read_times, read_toml, unit_of

_SWEEP = ("grid", "random", "count", "seed", "measures", "channels", "chunk", "rtol", "max_steps")
_SENSITIVITY = ("outputs", "parameters", "measures", "rtol")
_AXIS = ("values", "from", "to", "count", "scale")


@dataclasses.dataclass(frozen=True)
class SweepStudy:
    """What `sweep` is called with."""

    mechanism: object
    samples: Samples
    measures: tuple
    ts: np.ndarray
    settings: dict


@dataclasses.dataclass(frozen=True)
class SensitivityStudy:
    """What `sensitivity` is called with."""

    mechanism: object
    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    measures: tuple
    ts: np.ndarray
    settings: dict


def load_sweep(path):
    """The sweep of a study file. All faults are reported together, each with its key."""
    path, faults, data = read_toml(path)
    mechanism = read_model(data.get("model"), "model", path, faults)
    ts = _times(data, faults)
    table = _section(data, "sweep", '[sweep.grid."path"]', faults)
    faults.unknown_keys("sweep", table, _SWEEP)
    measures = _measures(table, "sweep", faults)
    if not measures and not table.get("channels"):
        faults.missing("sweep", "measures", '[{kind = "Final", channel = "slider.position.x"}]')
    samples = _samples(table, mechanism, faults)
    settings = {k: table[k] for k in ("chunk", "max_steps", "channels") if k in table}
    faults.raise_any()
    return SweepStudy(mechanism, samples, measures, ts, {**settings, "steps": _steps(table, 1e-6)})


def load_sensitivity(path):
    """The sensitivity study of a study file."""
    path, faults, data = read_toml(path)
    mechanism = read_model(data.get("model"), "model", path, faults)
    ts = _times(data, faults)
    table = _section(data, "sensitivity", "[sensitivity]", faults)
    faults.unknown_keys("sensitivity", table, _SENSITIVITY)
    lists = {}
    for key, example in (("outputs", '["slider.position.x"]'), ("parameters", '["pin.clearance"]')):
        lists[key] = table.get(key, [])
        good = isinstance(lists[key], list) and all(isinstance(x, str) for x in lists[key])
        if not good or (key == "parameters" and not lists[key]):
            faults.missing("sensitivity", key, example)
    for p in lists["parameters"] if mechanism is not None else ():
        _known(p, mechanism, "sensitivity.parameters", faults)
    measures = _measures(table, "sensitivity", faults)
    faults.raise_any()
    settings = {"steps": _steps(table, 1e-8)}
    return SensitivityStudy(mechanism, tuple(lists["outputs"]), tuple(lists["parameters"]), measures, ts, settings)


def _section(data, key, example, faults):
    table = data.get(key)
    if isinstance(table, dict):
        return table
    faults.add(key, f"is missing; this verb needs a section such as `{example}`.")
    return {}


def _steps(table, default):
    return mb.Adaptive(rtol=table.get("rtol", default))


def _times(data, faults):
    if "times" in data:
        return read_times(data["times"], "times", faults)
    return faults.add("times", 'is missing; give `[times]` with `end = "0.5 s"` and `outputs = 501`.')


def _measures(table, where, faults):
    rows = table.get("measures", [])
    if not isinstance(rows, list):
        faults.add(join(where, "measures"), f"is {describe(rows)}; expected a list of tables.")
        return ()
    found = [measure_from_table(row, f"{where}.measures[{k}]", faults) for k, row in enumerate(rows)]
    return tuple(m for m in found if m is not None)


def _known(path, mechanism, where, faults):
    """The unit of a path, or None after a fault."""
    try:
        mechanism.value(path)
    except ValueError as error:
        return faults.add(where, str(error))
    return unit_of(mechanism, path)


def _samples(table, mechanism, faults):
    kinds = [k for k in ("grid", "random") if isinstance(table.get(k), dict) and table[k]]
    if len(kinds) != 1:
        return faults.add("sweep", 'needs either `[sweep.grid."path"]` or `[sweep.random."path"]` tables.')
    axes, log = {}, []
    for path, axis in table[kinds[0]].items():
        where = join(f"sweep.{kinds[0]}", path)
        if not isinstance(axis, dict):
            faults.add(where, f"is {describe(axis)}; expected a table with `values`, or `from` and `to`.")
            continue
        faults.unknown_keys(where, axis, _AXIS)
        unit = _known(path, mechanism, where, faults) if mechanism is not None else ""
        if axis.get("scale", "linear") == "log":
            log.append(path)
        axes[path] = _axis(axis, kinds[0], unit, where, faults)
    if any(a is None for a in axes.values()) or faults.messages:
        return None
    try:
        if kinds[0] == "grid":
            return grid(axes)
        return uniform(axes, table.get("count", 100), seed=table.get("seed", 0), log=log)
    except StudyError as error:
        return faults.add("sweep", str(error))


def _axis(axis, kind, unit, where, faults):
    """The values along an axis of a grid, or (low, high)."""
    if "values" in axis and kind == "grid":
        values = [read_number(v, unit, join(where, "values"), faults) for v in axis["values"]]
        return None if None in values else values
    if "from" not in axis or "to" not in axis:
        return faults.add(where, "needs `from` and `to`" + (", or `values`." if kind == "grid" else "."))
    ends = [read_number(axis[k], unit, join(where, k), faults) for k in ("from", "to")]
    if None in ends:
        return None
    if kind == "random":
        return tuple(ends)
    count = axis.get("count", 11)
    if axis.get("scale", "linear") == "log":
        if min(ends) <= 0:
            return faults.add(where, "a log scale needs positive ends.")
        return np.geomspace(*ends, count)
    return np.linspace(*ends, count)
