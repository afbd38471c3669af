"""Shorter ways to give some numbers: solids instead of inertia, axis and angle, tables from CSV files."""

import csv
import inspect
import re

import numpy as np

from .. import rotation, shape
from ..body import PlanarBody, SpatialBody
from ..errors import did_you_mean
from ..signal import Table
from ..units import ONE, check_dimension, parse_unit
from .faults import describe, join

_SHAPES = {n: f for n, f in vars(shape).items() if inspect.isfunction(f) and not n.startswith("_")}
_SHAPE_UNITS = {"mass": "kg", "density": "kg/m^3", "slenderness": "1"}  # all others are metres
_CSV_KEYS = ("csv", "time", "column", "unit", "time_unit")


def _body(reader, cls, table, path, symbols):
    del symbols
    table = dict(table)
    solid = table.pop("shape", None)
    if solid is not None:
        for key in ("mass", "inertia"):
            if key in table:
                reader.faults.add(join(path, key), "is given twice: `shape` already says it; keep one of them.")
        found = _solid(reader, solid, join(path, "shape")) or {"mass": 1.0, "inertia": np.ones(3)}
        moments = found["inertia"].tolist()
        # The body's z axis is the normal of its plane.
        table.update(mass=float(found["mass"]), inertia=moments[2] if cls is PlanarBody else moments)
    if isinstance(table.get("orientation"), dict):
        table["orientation"] = _turn(reader, table["orientation"], join(path, "orientation"))
    return table


def _solid(reader, solid, path):
    faults = reader.faults
    if not isinstance(solid, dict) or "kind" not in solid:
        return faults.add(path, f'is {describe(solid)}; expected such as `{{kind = "box", x = 0.1, ...}}`.')
    if solid["kind"] not in list(_SHAPES):
        return faults.choice(join(path, "kind"), solid["kind"], "a shape", _SHAPES)
    function = _SHAPES[solid["kind"]]
    parameters = inspect.signature(function).parameters
    sizes = {k: v for k, v in solid.items() if k != "kind"}
    before = len(faults.messages)
    faults.unknown_keys(path, sizes, list(parameters))
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in sizes:
            faults.missing(path, key, f'"1 {_SHAPE_UNITS.get(key, "m")}"')
    values = {k: reader.numbers(v, _SHAPE_UNITS.get(k, "m"), join(path, k)) for k, v in sizes.items()}
    for key, value in values.items():
        if isinstance(value, list) or (value is not None and not np.isfinite(value)):
            faults.add(join(path, key), f"is {describe(sizes[key])}; expected one number.")
    if len(faults.messages) > before:
        return None
    return reader.make(function, values, path)


def _turn(reader, table, path):
    reader.faults.unknown_keys(path, table, ["axis", "angle"])
    for key, example in (("axis", "[0, 0, 1]"), ("angle", '"30 deg"')):
        if key not in table:
            reader.faults.missing(path, key, example)
    axis = reader.numbers(table.get("axis", [0, 0, 1]), "1", join(path, "axis"))
    angle = reader.numbers(table.get("angle", 0), "rad", join(path, "angle"))
    if np.shape(axis) != (3,) or None in axis or not np.linalg.norm(axis) > 0 or np.shape(angle) or angle is None:
        if axis is not None and angle is not None:
            reader.faults.add(path, "expected `{axis = [x, y, z], angle = ...}` with an axis that is not zero.")
        return [1.0, 0.0, 0.0, 0.0]
    axis = np.array(axis) / np.linalg.norm(axis)
    return np.asarray(rotation.from_axis_angle(axis, np.float64(angle))).tolist()


def _table(reader, cls, table, path, symbols):
    del cls
    if "csv" not in table:
        for key in _CSV_KEYS[1:]:
            if key in table:
                reader.faults.add(join(path, key), "only makes sense together with `csv`.")
        return table
    rest = {k: v for k, v in table.items() if k not in _CSV_KEYS}
    for key in ("times", "values"):
        if key in rest:
            reader.faults.add(join(path, key), "is given twice: `csv` already says it; keep one of them.")
    return {**rest, **_columns(reader, table, path, symbols)}


def _columns(reader, table, path, symbols):
    blank = {"times": [0.0, 1.0], "values": [0.0, 0.0]}
    wanted = {k: table[k] for k in _CSV_KEYS if k in table}
    for key in ("time", "column"):
        if key not in table:
            reader.faults.missing(path, key, '"name of a column"')
    bad = [k for k, v in wanted.items() if not isinstance(v, str)]
    for key in bad:
        reader.faults.add(join(path, key), f"is {describe(wanted[key])}; expected text.")
    file = reader.folder / table["csv"] if "csv" not in bad else None
    if file is None or bad or "time" not in table or "column" not in table:
        return blank
    try:
        with open(file, newline="", encoding="utf-8-sig") as handle:
            header, *rows = [row for row in csv.reader(handle) if row]
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is empty or not text"
        reader.faults.add(join(path, "csv"), f"`{file}` cannot be read: {reason}.")
        return blank
    units = {"time": ("time_unit", "s"), "column": ("unit", symbols.get("Y"))}
    found = []
    for key, (unit_key, dimension) in units.items():
        column = _column(reader, path, key, table[key], header, rows, file)
        unit = _column_unit(reader, path, column, table.get(unit_key), unit_key, dimension)
        found.append(column and unit and [unit.of(_exact(x)) for x in column[1]])
    return blank if None in found else {"times": found[0], "values": found[1]}


def _exact(x):
    from fractions import Fraction

    return Fraction(x) if np.isfinite(x) else x


def _column(reader, path, key, name, header, rows, file):
    """The header's unit and the numbers of a column; a header may say `name` or `name [unit]`."""
    titles = [re.fullmatch(r"\s*(.*?)\s*(?:\[(.*)\])?\s*", title).groups() for title in header]
    at = [k for k, title in enumerate(titles) if name in (title[0], header[k].strip())]
    if not at:
        known = [title[0] for title in titles]
        return reader.faults.add(
            join(path, key), f"`{file}` has no column `{name}`.{did_you_mean(name, known)} Columns: {', '.join(known)}."
        )
    numbers = []
    for line, row in enumerate(rows, start=2):
        try:
            numbers.append(float(row[at[0]]))
        except (ValueError, IndexError):
            got = repr(row[at[0]]) if at[0] < len(row) else "nothing"
            return reader.faults.add(
                join(path, "csv"), f"`{file}`, line {line}, column `{name}`: expected a number, got {got}."
            )
    return titles[at[0]][1], numbers


def _column_unit(reader, path, column, given, unit_key, dimension):
    if column is None:
        return None
    text = given or column[0]
    if text is None:
        return ONE
    try:
        unit = parse_unit(text)
        check_dimension(unit, text, dimension)
    except ValueError as error:
        return reader.faults.add(join(path, unit_key), str(error))
    return unit


# Class: the extra keys it understands in a file, and what turns them into its fields.
SHORTHANDS = {
    SpatialBody: (("shape",), _body),
    PlanarBody: (("shape",), _body),
    Table: (_CSV_KEYS, _table),
}
