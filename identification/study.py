"""Study files (TOML): model, parameters, experiments and the settings of the fit."""

import dataclasses
import pathlib
import re
import tomllib

import numpy as np

import mbjax as mb
from mbjax.io.dimensions import FIELDS
from mbjax.io.faults import Faults, describe, join
from mbjax.units import ONE, UnitError, parse_unit

from .bushing_test import BushingTest
from .errors import DataError
from .experiment import Compared, Experiment, Input
from .parameter import Parameter
from .problem import Problem
from .quantity import read_number
from .recording import read_recording, read_table
from .sensor.base import sensor_value
from .sensor.table import sensor_from_table

TOP = ("model", "parameters", "sensors", "experiments", "fit", "times", "sweep", "sensitivity")
_PARAMETER = ("path", "paths", "start", "lower", "upper", "scale", "prior", "experiments")
_EXPERIMENT = ("file", "time", "time_offset", "validation", "channels", "positions", "speeds", "model", "inputs")
_BUSHING_TEST = ("file", "bushing", "deflection", "amplitude", "frequency", "phase", "mean", "validation", "channels")
_CHANNEL = ("column", "unit", "sigma", "offset")
_FIT = ("rtol", "horizons", "starts", "seed", "tolerance", "most")


@dataclasses.dataclass(frozen=True)
class Study:
    """A problem and how to fit it."""

    problem: Problem
    settings: dict


def load_study(path):
    """The study in a TOML file. All faults are reported together, each with its key."""
    path, faults, data = read_toml(path)
    mechanism = read_model(data.get("model"), "model", path, faults)
    given = _tables(data, "sensors", faults) if "sensors" in data else []
    sensors = {n: sensor_from_table(n, t, faults) for n, t in given}
    parameters = [_parameter(n, t, mechanism, sensors, faults) for n, t in _tables(data, "parameters", faults)]
    experiments = [_experiment(n, t, path, faults) for n, t in _tables(data, "experiments", faults)]
    settings = _settings(data.get("fit", {}), faults)
    faults.raise_any()
    steps = mb.Adaptive(rtol=settings.pop("rtol", 1e-8))
    return Study(Problem(mechanism, parameters, experiments, steps=steps, sensors=sensors), settings)


def read_toml(path):
    """The path, a collector of faults, and the table of a study file whose sections are known."""
    path = pathlib.Path(path)
    faults = Faults(str(path))
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise mb.ModelError(f"{path}: the study cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise mb.ModelError(f"{path}: this is not a text file in UTF-8; a study is TOML text.") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise mb.ModelError(f"{path}{':' + line[1] if line else ''}: not valid TOML: {error}.") from None
    faults.unknown_keys("", data, TOP)
    return path, faults, data


def _tables(data, key, faults):
    table = data.get(key)
    if not isinstance(table, dict) or not table:
        faults.add(key, f"at least one table is needed, such as `[{key}.{'run' if key == 'experiments' else 'name'}]`.")
        return []
    good = []
    for name, value in table.items():
        if isinstance(value, dict):
            good.append((name, value))
        else:
            faults.add(join(key, name), f"is {describe(value)}; expected a table.")
    return good


def read_model(name, key, path, faults):
    if not isinstance(name, str):
        faults.missing("", key, '"model.toml"')
        return None
    try:
        return mb.load(path.parent / name)
    except ValueError as error:
        for message in getattr(error, "faults", [str(error)]):
            faults.messages.append(message)
        return None


def _parameter(name, table, mechanism, sensors, faults):
    where = join("parameters", name)
    faults.unknown_keys(where, table, _PARAMETER)
    paths = table.get("paths", table.get("path"))
    paths = [paths] if isinstance(paths, str) else paths
    if not isinstance(paths, list) or not paths or not all(isinstance(p, str) for p in paths):
        return faults.missing(where, "path", '"pin.interface.normal.elastic.stiffness"')
    unit = ""
    if mechanism is not None:
        for p in paths:
            owner, _, field = p.partition(".")
            try:
                if sensors.get(owner) is not None:
                    sensor_value(sensors[owner], owner, field)
                elif owner not in sensors:
                    mechanism.value(p)
            except ValueError as error:
                faults.add(join(where, "path"), str(error))
                return None
        if paths[0].partition(".")[0] not in sensors:
            unit = unit_of(mechanism, paths[0])
    numbers = {}
    for key in ("start", "lower", "upper"):
        if key in table:
            numbers[key] = read_number(table[key], unit, join(where, key), faults)
    prior = table.get("prior")
    if prior is not None:
        if not isinstance(prior, list) or len(prior) != 2:
            return faults.add(join(where, "prior"), f"is {describe(prior)}; expected [mean, deviation].")
        prior = tuple(read_number(x, unit, join(where, "prior"), faults) for x in prior)
    if None in numbers.values() or (prior is not None and None in prior):
        return None
    try:
        return Parameter(
            name, tuple(paths), scale=table.get("scale", "linear"), unit=unit, prior=prior,
            experiments=table.get("experiments"), **numbers,
        )  # fmt: skip
    except ValueError as error:
        return faults.add(where, str(error))


def unit_of(mechanism, path):
    """The unit of a number, or of the array whose component it is; "" where it depends on the place."""
    name, *keys = path.split(".")
    node = mechanism[name]
    for key in keys:
        unit = FIELDS.get(type(node), {}).get(key, "")
        if unit and not re.search(r"[QFY{]", unit):
            return unit
        node = getattr(node, key, None)
    whole = path
    while whole:
        found = mechanism.parameters(whole).get(whole)
        if found is not None:
            return found[1]
        whole = whole.rpartition(".")[0]
    return ""


def _experiment(name, table, path, faults):
    where = join("experiments", name)
    if "bushing" in table:
        return _bushing_test(name, table, path, faults)
    faults.unknown_keys(where, table, _EXPERIMENT)
    before = len(faults.messages)
    if not isinstance(table.get("file"), str):
        return faults.missing(where, "file", '"run.csv"')
    try:
        recording = read_recording(path.parent / table["file"], table.get("time"))
    except DataError as error:
        return faults.add(join(where, "file"), str(error))
    channels = table.get("channels")
    if not isinstance(channels, dict) or not channels:
        return faults.missing(where, "channels", '{"slider.position.x" = {column = "x"}}')
    compared = [_channel(c, t, join(join(where, "channels"), c), recording, faults) for c, t in channels.items()]
    mechanism = read_model(table["model"], "model", path, faults) if "model" in table else None
    inputs = []
    for target, t in table.get("inputs", {}).items():
        found = _channel(target, t, join(join(where, "inputs"), target), recording, faults)
        if found is not None:
            inputs.append(Input(target, found.column, found.factor, found.offset))
    offset = read_number(table.get("time_offset", 0.0), "s", join(where, "time_offset"), faults)
    starts = {}
    for key in ("positions", "speeds"):
        given = table.get(key, {})
        starts[key] = {k: read_number(v, "", join(join(where, key), k), faults) for k, v in given.items()}
    if len(faults.messages) > before:
        return None
    return Experiment(
        name, recording, compared, **starts, time_offset=offset, mechanism=mechanism,
        validation=bool(table.get("validation", False)), inputs=inputs,
    )  # fmt: skip


def _bushing_test(name, table, path, faults):
    """A file with one row per amplitude and frequency (and phase, for loops)."""
    where = join("experiments", name)
    faults.unknown_keys(where, table, _BUSHING_TEST)
    before = len(faults.messages)
    for key, example in (("file", '"loops.csv"'), ("bushing", '"mount"'), ("deflection", '"b"')):
        if not isinstance(table.get(key), str):
            return faults.missing(where, key, example)
    try:
        rows = read_table(path.parent / table["file"])
    except DataError as error:
        return faults.add(join(where, "file"), str(error))
    channels = table.get("channels")
    if not isinstance(channels, dict) or not channels:
        return faults.missing(where, "channels", '{force = "force [N]"}')
    compared = [_channel(c, t, join(join(where, "channels"), c), rows, faults) for c, t in channels.items()]
    axes = [_axis(key, table, where, rows, faults) for key in ("amplitude", "frequency", "phase")]
    mean = read_number(table.get("mean", 0.0), "", join(where, "mean"), faults)
    if len(faults.messages) > before:
        return None
    grids = [np.unique(x) for x in axes if x is not None]
    places = tuple(np.searchsorted(g, x) for g, x in zip(grids, (x for x in axes if x is not None), strict=True))
    measured = {}
    for c in compared:
        used = len(grids) if c.channel == "force" else 2
        measured[c.channel] = np.full([g.size for g in grids[:used]], np.nan)
        measured[c.channel][places[:used]] = c.factor * rows.column(c.column) + c.offset
    try:
        return BushingTest(
            name, table["bushing"], table["deflection"], grids[0], grids[1], measured,
            {c.channel: c.sigma for c in compared}, grids[2] if len(grids) > 2 else None, mean,
            bool(table.get("validation", False)), str(path.parent / table["file"]),
        )  # fmt: skip
    except DataError as error:
        return faults.add(where, str(error))


def _axis(key, table, where, rows, faults):
    """Values of an axis in SI, row by row; None where a test has no such axis."""
    column = table.get(key, None if key == "phase" else key)
    if column is None:
        return None
    compared = _channel(key, column, join(where, key), rows, faults)
    if compared is None:
        return None
    values = compared.factor * rows.column(compared.column)
    if not np.isfinite(values).all():
        line = rows.lines[int(np.argmin(np.isfinite(values)))]
        return faults.add(join(where, key), f"{rows.source}:{line}: the {key} is missing.")
    return values


def _channel(channel, table, where, recording, faults):
    if isinstance(table, str):
        table = {"column": table}
    if not isinstance(table, dict):
        return faults.add(where, f'is {describe(table)}; expected a table such as `{{column = "x [mm]"}}`.')
    faults.unknown_keys(where, table, _CHANNEL)
    column = table.get("column")
    if not isinstance(column, str):
        return faults.missing(where, "column", '"x [mm]"')
    try:
        recording.column(column)
    except DataError as error:
        return faults.add(join(where, "column"), str(error))
    written = re.search(r"\[([^\]]*)\]\s*$", column)
    text = table.get("unit", written[1] if written else "")
    try:
        factor = (parse_unit(text) if text else ONE).of(1)
    except UnitError as error:
        return faults.add(join(where, "unit"), str(error))
    sigma = table.get("sigma", "estimate")
    if sigma != "estimate":
        # A plain number is in the unit of the column, like the data.
        sigma = read_number(sigma, text, join(where, "sigma"), faults)
        sigma = sigma if sigma is None or isinstance(table["sigma"], str) else sigma * factor
    offset = read_number(table.get("offset", 0.0), text, join(where, "offset"), faults)
    if sigma is None or offset is None:
        return None
    try:
        return Compared(channel, column, sigma, factor, offset)
    except DataError as error:
        return faults.add(where, str(error))


def _settings(table, faults):
    faults.unknown_keys("fit", table, _FIT)
    good = {}
    for key, value in table.items():
        if key == "horizons":
            numbers = value if isinstance(value, list) else [value]
            good[key] = [read_number(v, "s", "fit.horizons", faults) for v in numbers]
        elif isinstance(value, bool) or not isinstance(value, int | float):
            faults.add(join("fit", key), f"is {describe(value)}; expected a number.")
        else:
            good[key] = value
    return good
