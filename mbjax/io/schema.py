"""What a class may be told in a model file, read off its constructor, its fields and its catalogue."""

import dataclasses
import importlib
import inspect
import types
import typing
from collections.abc import Callable

from .dimensions import FIELDS

# A field of this name would hide the class in a table; it has another key there.
_KEYS = {"kind": "load"}
# Packages whose catalogues may hold classes for a base class that lives elsewhere.
ROOMS = (
    "joint", "signal", "element", "element.characteristic", "contact", "contact.pair", "contact.interface",
    "contact.normal", "contact.normal.elastic", "contact.normal.hysteresis", "contact.normal.policy",
    "contact.friction", "contact.film", "bushing",
)  # fmt: skip


class Entry(typing.NamedTuple):
    """One key of a table."""

    name: str  # of the field
    key: str  # in the file
    type: object
    convert: object  # the field's converter, or None
    required: bool
    default: object
    unit: str | None


def entries(cls):
    """The keys of a class, in the order of its constructor."""
    fields = {f.name: f for f in dataclasses.fields(cls)}
    found = []
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        field = fields.get(parameter.name)
        if field is None:
            raise TypeError(f"{cls.__name__}: the constructor's `{parameter.name}` is not a field; give a reader.")
        unit = field.metadata.get("unit", FIELDS.get(cls, {}).get(field.name))
        required = parameter.default is inspect.Parameter.empty
        convert = field.metadata.get("converter")
        key = _KEYS.get(field.name, field.name)
        found.append(Entry(field.name, key, _plain(field.type), convert, required, parameter.default, unit))
    return found


def _plain(annotation):
    """`X | None` is `X`: None is written by leaving the key out."""
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        kinds = [a for a in typing.get_args(annotation) if a is not type(None)]
        return kinds[0] if len(kinds) == 1 else annotation
    return annotation


def needs_python(cls):
    """Whether a class holds a Python function, which no file can carry."""
    return any(typing.get_origin(f.type) is Callable or f.type is Callable for f in dataclasses.fields(cls))


def is_module(annotation):
    """Whether a field holds another part with fields of its own."""
    return isinstance(annotation, type) and dataclasses.is_dataclass(annotation)


def is_open(annotation):
    """Whether a field may hold one of several classes, told apart by `kind`."""
    return annotation.__name__.startswith("Abstract")


def catalogue(base):
    """The classes a file may name where a `base` is wanted, by name."""
    home = base.__module__
    package = home.rpartition(".")[0]
    top = package.partition(".")[0]
    places = dict.fromkeys((home, package, *(f"{top}.{room}" for room in ROOMS)))
    known = [c for place in places for c in getattr(importlib.import_module(place), "CATALOGUE", ())]
    return {c.__name__: c for c in known if issubclass(c, base)}
