"""Experiments of a study file; the keys of a table tell which kind it is."""

import re

import numpy as np

from mbjax.io.faults import describe, join
from mbjax.units import ONE, UnitError, check_dimension, parse_unit

from ..bushing_test import BushingTest
from ..errors import DataError, StudyError
from ..experiment import Compared, Experiment, Input
from ..feature_test import Feature, FeatureTest
from ..frequency_test import FrequencyTest
from ..measure.table import measure_from_table
from ..quantity import read_number
from ..recording import read_recording, read_table
from ..shooting import shooting
from .file import channel_units, read_model, read_times

_MOTION = (
    "file",
    "time",
    "time_offset",
    "validation",
    "channels",
    "positions",
    "speeds",
    "model",
    "inputs",
    "segments",
)
_BUSHING_TEST = ("file", "bushing", "deflection", "amplitude", "frequency", "phase", "mean", "validation", "channels")
_FREQUENCY_TEST = (
    "file", "load", "channel", "frequency", "quantity", "validation", "channels", "positions", "model",
)  # fmt: skip
_FEATURE_TEST = ("file", "time", "times", "features", "validation", "positions", "speeds", "model")
_CHANNEL = ("column", "unit", "sigma", "offset")
_SEGMENTS = ("count", "cuts", "coordinates", "continuity", "smoothing")


def experiments_of(name, table, path, units, faults):
    """The experiments that a table stands for, and the unknowns that come with them (starts of segments)."""
    where = join("experiments", name)
    if "bushing" in table:
        found = _bushing_test(name, table, path, faults)
    elif "load" in table:
        found = _frequency_test(name, table, path, units, faults)
    elif "features" in table:
        found = _feature_test(name, table, path, units, faults)
    else:
        found = _motion(name, table, path, units, faults)
        if "segments" in table:
            return _segments(found, table["segments"], join(where, "segments"), faults)
    return [found], []


def _motion(name, table, path, units, faults):
    where = join("experiments", name)
    faults.unknown_keys(where, table, _MOTION)
    before = len(faults.messages)
    recording = _recording(table, where, path, faults)
    if recording is None:
        return None
    channels = table.get("channels")
    if not isinstance(channels, dict) or not channels:
        return faults.missing(where, "channels", '{"slider.position.x" = {column = "x"}}')
    held, units = _held(table, where, path, units, faults)
    compared = [
        _channel(c, t, join(join(where, "channels"), c), recording, faults, units.get(c)) for c, t in channels.items()
    ]
    inputs = []
    for target, t in table.get("inputs", {}).items():
        found = _channel(target, t, join(join(where, "inputs"), target), recording, faults)
        if found is not None:
            inputs.append(Input(target, found.column, found.factor, found.offset))
    offset = read_number(table.get("time_offset", 0.0), "s", join(where, "time_offset"), faults)
    if len(faults.messages) > before:
        return None
    return Experiment(name, recording, compared, **held, time_offset=offset, inputs=inputs)


def _recording(table, where, path, faults):
    if not isinstance(table.get("file"), str):
        return faults.missing(where, "file", '"run.csv"')
    try:
        return read_recording(path.parent / table["file"], table.get("time"))
    except DataError as error:
        return faults.add(join(where, "file"), str(error))


def _held(table, where, path, units, faults, kinds=("positions", "speeds")):
    """Start, model and role of an experiment, and the units of its channels (those of the study's model by default)."""
    found = {"mechanism": read_model(table["model"], "model", path, faults) if "model" in table else None}
    if found["mechanism"] is not None:
        units = channel_units(found["mechanism"])
    for key in kinds:
        given, per = table.get(key, {}), "/s" if key == "speeds" else ""
        if isinstance(given, dict):
            found[key] = {
                k: read_number(v, units[k] + per if k in units else "", join(join(where, key), k), faults)
                for k, v in given.items()
            }
        else:
            faults.add(join(where, key), f'is {describe(given)}; expected a table such as `{{"pin.spin" = 0.1}}`.')
    return {**found, "validation": bool(table.get("validation", False))}, units


def _segments(experiment, table, where, faults):
    """Multiple shooting: the recording cut into `count` segments, or at `cuts`."""
    if not isinstance(table, dict):
        faults.add(where, f'is {describe(table)}; expected `{{count = 8, coordinates = ["pin.spin"]}}`.')
        return [None], []
    faults.unknown_keys(where, table, _SEGMENTS)
    before = len(faults.messages)
    coordinates, count = table.get("coordinates"), table.get("count")
    if not isinstance(coordinates, list) or not coordinates:
        faults.missing(where, "coordinates", '["pin.spin"]')
    if ("cuts" in table) == ("count" in table):
        faults.add(where, "needs either `count` (how many segments) or `cuts` (times).")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 2):
        faults.add(join(where, "count"), f"is {describe(count)}; expected a whole number of at least 2.")
    cuts = [read_number(c, "s", join(where, "cuts"), faults) for c in table.get("cuts", [])]
    settings = {k: table[k] for k in ("continuity", "smoothing") if k in table}
    if len(faults.messages) > before or experiment is None:
        return [None], []
    try:
        return shooting(experiment, coordinates, count or cuts, **settings)
    except StudyError as error:
        faults.add(where, str(error))
        return [None], []


class _Recorded:
    """Columns of a file under the names of channels, for measures to look at."""

    def __init__(self, ts, channels):
        self.ts, self.channels = ts, channels

    def __getitem__(self, channel):
        return self.channels[channel]


def _feature_test(name, table, path, units, faults):
    """Features of a motion: their values given, or taken from a column of the file as the measure takes them."""
    where = join("experiments", name)
    faults.unknown_keys(where, table, _FEATURE_TEST)
    before = len(faults.messages)
    recording = _recording(table, where, path, faults) if "file" in table else None
    ts = None if recording is None else recording.times
    if "times" in table:
        ts = read_times(table["times"], join(where, "times"), faults)
    elif "file" not in table:
        faults.missing(where, "times", '{end = "0.5 s", outputs = 501}')
    rows = table["features"]
    if not isinstance(rows, dict) or not rows:
        return faults.missing(where, "features", '{rms = {kind = "RootMeanSquare", channel = "rod.spin"}}')
    held, units = _held(table, where, path, units, faults)
    features = [_feature(t, join(join(where, "features"), n), recording, units, faults) for n, t in rows.items()]
    if len(faults.messages) > before:
        return None
    return FeatureTest(name, ts, features, **held)


def _feature(table, where, recording, units, faults):
    if not isinstance(table, dict):
        return faults.add(where, f"is {describe(table)}; expected a table.")
    own = ("values", "column", "unit", "sigma")
    measure = measure_from_table({k: v for k, v in table.items() if k not in own}, where, faults)
    sigma = table.get("sigma", "estimate")
    if sigma != "estimate":
        sigma = read_number(sigma, "", join(where, "sigma"), faults)
    if measure is None or sigma is None:
        return None
    if "values" in table:
        given = table["values"] if isinstance(table["values"], list) else [table["values"]]
        values = [read_number(v, "", join(where, "values"), faults) for v in given]
        if None in values:
            return None
    elif "column" not in table or recording is None or not hasattr(measure, "channel"):
        return faults.missing(where, "values", "[...]")
    else:
        column = _channel(
            measure.channel, {k: table[k] for k in ("column", "unit") if k in table}, where, recording, faults,
            units.get(measure.channel),
        )  # fmt: skip
        if column is None:
            return None
        x = column.factor * recording.column(column.column)
        good = np.isfinite(x)
        values = np.asarray(measure(_Recorded(recording.times[good], {measure.channel: x[good]})))
    try:
        return Feature(measure, values, sigma)
    except DataError as error:
        return faults.add(where, str(error))


def _frequency_test(name, table, path, units, faults):
    """A file with one row per frequency."""
    where = join("experiments", name)
    faults.unknown_keys(where, table, _FREQUENCY_TEST)
    before = len(faults.messages)
    rows = _rows(table, where, path, faults, (("load", '"shaker"'), ("channel", '"wheel.position.z"')))
    if rows is None:
        return None
    rows, compared = rows
    frequencies = _axis("frequency", table, where, rows, faults)
    held, _ = _held(table, where, path, units, faults, ("positions",))
    if len(faults.messages) > before:
        return None
    try:
        return FrequencyTest(
            name, table["load"], table["channel"], frequencies,
            {c.channel: c.factor * rows.column(c.column) + c.offset for c in compared},
            {c.channel: c.sigma for c in compared}, table.get("quantity", "position"), **held,
            source=str(path.parent / table["file"]),
        )  # fmt: skip
    except DataError as error:
        return faults.add(where, str(error))


def _rows(table, where, path, faults, needed):
    """The file of a test without times, and the columns that are compared."""
    for key, example in (("file", '"rig.csv"'), *needed):
        if not isinstance(table.get(key), str):
            return faults.missing(where, key, example)
    try:
        rows = read_table(path.parent / table["file"])
    except DataError as error:
        return faults.add(join(where, "file"), str(error))
    channels = table.get("channels")
    if not isinstance(channels, dict) or not channels:
        return faults.missing(where, "channels", '{force = "force [N]"}')
    return rows, [_channel(c, t, join(join(where, "channels"), c), rows, faults) for c, t in channels.items()]


def _bushing_test(name, table, path, faults):
    """A file with one row per amplitude and frequency (and phase, for loops)."""
    where = join("experiments", name)
    faults.unknown_keys(where, table, _BUSHING_TEST)
    before = len(faults.messages)
    rows = _rows(table, where, path, faults, (("bushing", '"mount"'), ("deflection", '"b"')))
    if rows is None:
        return None
    rows, compared = rows
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


def _differ(header, unit):
    """Whether a header names another unit; one that is no unit (`[counts]`) does not."""
    try:
        return parse_unit(header).of(1) != parse_unit(unit).of(1)
    except UnitError:
        return False


def _channel(channel, table, where, recording, faults, wanted=None):
    """What a column is compared with; `wanted` is the channel's unit where it has one."""
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
        if text and wanted is not None:
            check_dimension(parse_unit(text), text, wanted)
    except UnitError as error:
        return faults.add(join(where, "unit"), str(error))
    if "unit" in table and written and _differ(written[1], text):
        return faults.add(
            join(where, "unit"), f"is {describe(text)}, but the column is headed `{column}`; rename one of the two."
        )
    sigma = table.get("sigma", "estimate")
    if sigma != "estimate":
        # A plain number is in the unit of the column, like the data.
        sigma = read_number(sigma, text, join(where, "sigma"), faults)
        sigma = sigma if sigma is None or isinstance(table["sigma"], str) else sigma * factor
    offset = read_number(table.get("offset", 0.0), text, join(where, "offset"), faults)
    offset = offset if offset is None or isinstance(table.get("offset"), str) else offset * factor
    if sigma is None or offset is None:
        return None
    try:
        return Compared(channel, column, sigma, factor, offset)
    except DataError as error:
        return faults.add(where, str(error))
