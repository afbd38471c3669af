"""Measured time series: from arrays, or from the CSV files that rigs and spreadsheets write."""

import csv
import dataclasses
import difflib
import hashlib
import io
import pathlib
import re

import numpy as np

from mbjax.units import UnitError, check_dimension, parse_unit

from .errors import DataError

_COMMENTS = ("#", "%", "//")
_MISSING = ("", "nan", "na", "n/a", "null", "-", "none", "inf", "-inf")


@dataclasses.dataclass(frozen=True)
class Recording:
    """Columns over time. Missing samples are NaN; `remarks` says what was found odd."""

    times: np.ndarray
    columns: dict[str, np.ndarray]
    source: str = "arrays"
    remarks: tuple[str, ...] = ()
    digest: str = ""

    def __post_init__(self):
        times = np.asarray(self.times, dtype=float)
        if times.ndim != 1 or times.size < 2:
            raise DataError(f"{self.source}: {times.size} samples; a recording needs at least 2.")
        bad = np.flatnonzero(~(np.diff(times) > 0))
        if bad.size:
            k = int(bad[0])
            raise DataError(
                f"{self.source}: times must increase; sample {k + 2} ({times[k + 1]:g} s) follows {times[k]:g} s."
            )
        columns = {name: np.asarray(values, dtype=float) for name, values in self.columns.items()}
        for name, values in columns.items():
            if values.shape != times.shape:
                raise DataError(f"{self.source}: column `{name}` has {values.size} values for {times.size} times.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "columns", columns)
        if not self.digest:
            digest = hashlib.sha256(times.tobytes())
            for name in sorted(columns):
                digest.update(name.encode() + columns[name].tobytes())
            object.__setattr__(self, "digest", digest.hexdigest())

    def column(self, name):
        if name not in self.columns:
            bare = [c for c in self.columns if c.split("[")[0].strip() == name.split("[")[0].strip()]
            near = bare or difflib.get_close_matches(name, list(self.columns), n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise DataError(f"{self.source}: no column `{name}`.{hint} Columns: {', '.join(self.columns)}.")
        return self.columns[name]


def read_recording(path, time=None):
    """A `Recording` from a file; `time` names its column (default: the first).

    CSV as `read_csv` says; `.npz` and `.mat` (up to version 7) hold one array per column, all of one length.
    """
    path = pathlib.Path(path)
    if path.suffix.lower() not in (".npz", ".mat"):
        return read_csv(path, time)
    try:
        raw = path.read_bytes()
        arrays = _arrays(path)
    except OSError as error:
        raise DataError(f"{path}: the recording cannot be read: {error.strerror or error}.") from None
    except NotImplementedError:
        raise DataError(f"{path}: MATLAB files of version 7.3 are not read; save with `-v7`, or as CSV.") from None
    except Exception as error:  # the readers have no common kind of error for damaged files
        raise DataError(f"{path}: not a file of plain arrays: {error}.") from None
    columns = {}
    for name, value in arrays.items():
        value = np.asarray(value)
        if value.dtype.kind in "fiub" and value.size == max(value.shape, default=0):
            columns[name] = value.astype(float).ravel()
    if not columns:
        raise DataError(f"{path}: no column of numbers; one array per column is expected.")
    name = next(iter(columns)) if time is None else time
    if name not in columns:
        raise DataError(f"{path}: no time column `{name}`. Columns: {', '.join(columns)}.")
    times = _in_seconds(name, columns.pop(name), path)
    if not np.isfinite(times).all():
        raise DataError(f"{path}: the time of sample {int(np.argmin(np.isfinite(times))) + 1} is missing.")
    columns = {n: np.where(np.isfinite(v), v, np.nan) for n, v in columns.items() if v.size == times.size}
    recording = Recording(times, columns, str(path), (), hashlib.sha256(raw).hexdigest())
    return dataclasses.replace(recording, remarks=_remarks(recording.times, recording.columns))


def _arrays(path):
    if path.suffix.lower() == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    from scipy.io import loadmat

    return {name: value for name, value in loadmat(path).items() if not name.startswith("__")}


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns of numbers with the line each row stands on."""

    columns: dict[str, np.ndarray]
    lines: tuple[int, ...]
    source: str
    digest: str

    column = Recording.column


def read_table(path):
    """A `Table` from a CSV file.

    The delimiter (comma, semicolon, tab, blanks) and decimal commas are recognised; a BOM, comment lines (#, %, //),
    blank lines and quotes are passed over; one header line is expected. Empty cells and words like NaN are missing.
    """
    path = pathlib.Path(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: the recording cannot be read: {error.strerror}.") from None
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    lines = [(k + 1, line) for k, line in enumerate(text.splitlines())]
    lines = [(k, line) for k, line in lines if line.strip() and not line.lstrip().startswith(_COMMENTS)]
    if len(lines) < 3:
        raise DataError(f"{path}: {len(lines)} lines with content; expected a header and at least two samples.")
    delimiter = _delimiter(lines[0][1], lines[1][1])
    header = _cells(lines[0][1], delimiter)
    if all(_number(cell, decimal_comma=delimiter != ",") is not None for cell in header):
        raise DataError(f"{path}:{lines[0][0]}: the first line holds numbers; expected the names of the columns.")
    if len(set(header)) != len(header):
        twice = next(h for h in header if header.count(h) > 1)
        raise DataError(f"{path}:{lines[0][0]}: two columns are called `{twice}`.")
    comma = delimiter != "," and not any("." in c for _, line in lines[1:50] for c in _cells(line, delimiter))
    rows = np.full((len(lines) - 1, len(header)), np.nan)
    for row, (number, line) in zip(rows, lines[1:], strict=True):
        cells = _cells(line, delimiter)
        if len(cells) != len(header):
            raise DataError(f"{path}:{number}: {len(cells)} cells, but the header names {len(header)} columns.")
        for k, cell in enumerate(cells):
            value = _number(cell, comma)
            if value is None:
                raise DataError(f"{path}:{number}: `{cell}` in column `{header[k]}` is not a number.")
            row[k] = value
    columns = {h: rows[:, k] for k, h in enumerate(header)}
    return Table(columns, tuple(k for k, _ in lines[1:]), str(path), hashlib.sha256(raw).hexdigest())


def read_csv(path, time=None):
    """A `Recording` from a CSV file as `read_table` reads it; `time` names its column (default: the first), which is in
    seconds unless its name ends with another unit in brackets (`t [ms]`). Times that stand still or run backward are
    refused with their line."""
    table = read_table(path)
    columns = dict(table.columns)
    name = next(iter(columns)) if time is None else time
    if name not in columns:
        raise DataError(f"{path}: no time column `{name}`. Columns: {', '.join(columns)}.")
    times = _in_seconds(name, columns.pop(name), path)
    if not np.isfinite(times).all():
        raise DataError(f"{path}:{table.lines[int(np.argmin(np.isfinite(times)))]}: the time is missing.")
    back = np.flatnonzero(~(np.diff(times) > 0))
    if back.size:
        k = int(back[0]) + 1
        what = "repeats" if times[k] == times[k - 1] else "runs backward from"
        raise DataError(f"{path}:{table.lines[k]}: time {times[k]:g} {what} {times[k - 1]:g} on the line before.")
    return Recording(times, columns, str(path), _remarks(times, columns), table.digest)


def _in_seconds(name, times, path):
    """A time column in seconds: the unit in brackets at the end of its name counts."""
    written = re.search(r"\[([^\]]*)\]\s*$", name)
    if written is None:
        return times
    try:
        unit = parse_unit(written[1])
        check_dimension(unit, written[1], "s")
    except UnitError as error:
        raise DataError(f"{path}: time column `{name}`: {error}") from None
    return times * float(unit.of(1))


def _remarks(times, columns):
    found = []
    steps = np.diff(times)
    usual = np.median(steps)
    gaps = np.flatnonzero(steps > 1.5 * usual)
    if gaps.size:
        k = int(gaps[np.argmax(steps[gaps])])
        found.append(
            f"{gaps.size} gaps in time, the longest {steps[k]:g} s after t = {times[k]:g} s (usual step {usual:g} s)"
        )
    for name, values in columns.items():
        missing = int((~np.isfinite(values)).sum())
        if missing:
            found.append(f"column `{name}`: {missing} of {values.size} samples are missing and will not be compared")
    return tuple(found)


def _delimiter(header, first):
    for delimiter in (";", "\t"):
        if delimiter in header and delimiter in first:
            return delimiter
    if "," in header:
        return ","
    return " "


def _cells(line, delimiter):
    if delimiter == " ":
        return line.split()
    return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=delimiter, skipinitialspace=True))]


def _number(cell, decimal_comma):
    word = cell.strip().lower()
    if word in _MISSING:
        return np.nan
    if decimal_comma and re.fullmatch(r"[+-]?\d*,\d+(e[+-]?\d+)?", word):
        word = word.replace(",", ".")
    try:
        return float(word)
    except ValueError:
        return None
