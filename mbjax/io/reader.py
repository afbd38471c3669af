"""Reading one object of any class of a catalogue from a TOML table; every fault is collected."""

import types
import typing

import numpy as np

from ..body import PlanarBody, SpatialBody
from ..connection import COORDINATES
from ..frame import Placement
from ..joint import Universal
from ..units import parse_quantity
from .dimensions import BY_COORDINATE, SYMBOLS, resolve
from .faults import describe, join
from .schema import catalogue, entries, is_module, is_open, needs_python
from .shorthand import SHORTHANDS

# Fields that name another part, and what kind of part.
REFERENCES = {
    "body": "body",
    "body_1": "body",
    "body_2": "body",
    "bearing": "body",
    "journal": "body",
    "connection": "connection",
}
_FINITE = (SpatialBody, PlanarBody, Placement, Universal)
_NUMBERS = (np.ndarray, float)


class Reader:
    """Builds objects from tables; `references` collects the names of other parts, to be checked at the end."""

    def __init__(self, faults, folder):
        self.faults = faults
        self.folder = folder
        self.part = None  # (section, name) of the part being read
        self.references = []  # (part, path, what, name)

    def choose(self, base, raw, path, symbols, **given):
        """An object of one of the classes of a catalogue: `{kind = "Revolute", ...}` or just `"Revolute"`."""
        table = {"kind": raw} if isinstance(raw, str) else raw
        known = catalogue(base)
        what = base.__name__.removeprefix("Abstract").lower()
        if not isinstance(table, dict):
            example = f'{{kind = "{next(iter(known), "...")}", ...}}'
            return self.faults.add(path, f"is {describe(raw)}; expected a {what} such as `{example}`.")
        if "kind" not in table:
            return self.faults.missing(path, "kind", '"..."', f" with one of {', '.join(known)}")
        kind = table["kind"]
        if not isinstance(kind, str) or kind not in known:
            readable = [k for k, cls in known.items() if not needs_python(cls)]
            return self.faults.choice(join(path, "kind"), kind, f"a {what}", readable)
        if needs_python(known[kind]):
            return self.faults.add(
                join(path, "kind"),
                f"a {kind} {what} holds a Python function, which a model file cannot carry; add it in Python with "
                "`mechanism.replace(...)`.",
            )
        rest = {k: v for k, v in table.items() if k != "kind"}
        return self.build(known[kind], rest, path, symbols, **given)

    def build(self, cls, table, path, symbols, **given):
        """An object of a class from the keys of a table, or None after faults."""
        if not isinstance(table, dict):
            return self.faults.add(path, f"is {describe(table)}; expected a table of {cls.__name__}.")
        known = [e for e in entries(cls) if e.name not in given]
        if table.get("kind") == cls.__name__ and "kind" not in (e.key for e in known):  # said where it need not be
            table = {key: value for key, value in table.items() if key != "kind"}
        before = len(self.faults.messages)
        symbols = {**symbols, **self._symbols(cls, table)}
        keys, expand = SHORTHANDS.get(cls, ((), None))
        self.faults.unknown_keys(path, table, [*(e.key for e in known), *keys])
        if expand is not None:
            table = expand(self, cls, table, path, symbols)
        values = dict(given)
        for entry in known:
            where = join(path, entry.key)
            if entry.key in table:
                values[entry.name] = self.value(cls, entry, table[entry.key], where, symbols)
            elif entry.required:
                self.faults.missing(path, entry.key, *self._example(entry, symbols))
        if len(self.faults.messages) > before:
            return None
        return self.make(cls, values, path)

    def make(self, cls, values, path):
        """Call a class; its ValueError becomes a fault."""
        try:
            return cls(**values)
        except ValueError as error:
            for message in getattr(error, "faults", [str(error)]):
                self.faults.add(path, message)
            return None

    def refer(self, path, what, name):
        """Note that the part being read names another part."""
        self.references.append((self.part, path, what, name))

    def _symbols(self, cls, table):
        names = [e.name for e in entries(cls)]
        default = BY_COORDINATE if "coordinate" in names else (None, {None: {}})
        decider, choices = SYMBOLS.get(cls, default)
        if decider is None:
            return choices[None]
        entry = next(e for e in entries(cls) if e.name == decider)
        word = table.get(entry.key, entry.default)
        return choices.get(word, {}) if isinstance(word, str) else {}

    def _example(self, entry, symbols):
        if is_module(entry.type):
            return ('{kind = "..."}' if is_open(entry.type) else "{...}",)
        if entry.type in _NUMBERS:
            unit = resolve(entry.unit, symbols) if entry.unit else None
            return "...", f" (in {unit.format(k=0, n=1)})" if unit not in (None, "1") else ""
        return ('"..."',)

    def value(self, cls, entry, raw, path, symbols):
        """One field."""
        kind = entry.type
        if is_module(kind):
            if entry.unit is not None:
                symbols = {**symbols, "Y": resolve(entry.unit, symbols)}
            return (self.choose if is_open(kind) else self.build)(kind, raw, path, symbols)
        if typing.get_origin(kind) is tuple:
            return self._several(cls, entry, raw, path, symbols)
        if typing.get_origin(kind) is typing.Literal:
            if raw not in typing.get_args(kind):
                self.faults.choice(path, raw, "a choice here", typing.get_args(kind))
            return raw
        if kind in _NUMBERS or isinstance(kind, types.UnionType):
            if isinstance(kind, types.UnionType) and isinstance(raw, str):
                return raw
            return self._array(cls, entry, raw, path, symbols)
        if kind not in (str, bool, int):
            return self.faults.add(path, f"a {entry.type} cannot stand in a model file.")
        return self._plain(entry, raw, path)

    def _plain(self, entry, raw, path):
        if type(raw) is not entry.type:
            wanted = {str: 'text in quotes, "..."', bool: "true or false", int: "a whole number"}[entry.type]
            return self.faults.add(path, f"is {describe(raw)}; expected {wanted}.")
        if entry.name == "coordinate" and raw not in COORDINATES:
            self.faults.choice(path, raw, "a joint coordinate", COORDINATES)
        if entry.name in REFERENCES:
            self.refer(path, REFERENCES[entry.name], raw)
        return raw

    def _several(self, cls, entry, raw, path, symbols):
        if not isinstance(raw, list):
            return self.faults.add(path, f"is {describe(raw)}; expected a list [...].")
        item = entry._replace(type=typing.get_args(entry.type)[0], convert=None)
        return tuple(self.value(cls, item, part, join(path, k), symbols) for k, part in enumerate(raw))

    def _array(self, cls, entry, raw, path, symbols):
        before = len(self.faults.messages)
        value = self.numbers(raw, resolve(entry.unit, symbols) if entry.unit else None, path, known=bool(entry.unit))
        if len(self.faults.messages) > before:
            return None
        try:
            np.asarray(value, dtype=float)
        except ValueError:
            return self.faults.add(path, f"is {describe(raw)}; expected numbers in rows of the same length.")
        try:
            array = value if entry.convert is None else entry.convert(value)
        except ValueError as error:
            return self.faults.add(path, f"is {describe(raw)}. {error}")
        if entry.type is float and np.ndim(array):
            return self.faults.add(path, f"is {describe(raw)}; expected one number.")
        if np.isnan(array).any() or ((cls in _FINITE or entry.type is float) and np.isinf(array).any()):
            self.faults.add(path, f"is {describe(raw)}; expected finite numbers.")
        return array

    def numbers(self, raw, unit, path, *, known=True, index=0):
        """Floats in SI from a number, a quantity or nested lists of them. `known=False`: no unit is on record."""
        if isinstance(raw, list):
            return [self.numbers(x, unit, join(path, k), known=known, index=k) for k, x in enumerate(raw)]
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            return self.faults.add(path, f"is {describe(raw)}; expected numbers or quantities such as `12 mm`.")
        if isinstance(raw, str) and not known:
            return self.faults.add(path, f"is {describe(raw)}; no unit is on record here, write a plain SI number.")
        try:
            return parse_quantity(raw, unit and unit.format(k=index, n=index + 1))
        except ValueError as error:
            return self.faults.add(path, str(error))
