"""Writing a mechanism as the text of a model file. Reading it back gives the same numbers bit by bit."""

import json
import typing

import numpy as np

from ..array import is_concrete
from ..body import PlanarBody
from ..element import AbstractElement
from ..errors import ModelError
from ..joint import AbstractRealisation
from .faults import join
from .schema import catalogue, entries, is_module, is_open, needs_python


def to_toml(mechanism):
    """The model file of a mechanism, every number in SI. Parts that hold Python functions cannot be written."""
    faults = []
    lines = [f"name = {_text(mechanism.name)}"]

    def section(path, pairs):
        lines.append("")
        lines.append(f"[{path}]")
        lines.extend(f"{key} = {value}" for key, value in pairs)

    groups = {
        "bodies": (mechanism.bodies, _body),
        "connections": (mechanism.connections, _connection),
        "drivers": (mechanism.drivers, _pairs),
        "elements": (mechanism.elements, _element),
        "markers": (mechanism.markers, _marker),
    }
    for group, (parts, write) in groups.items():
        for part in parts:
            try:
                section(join(group, part.name), write(part, f"`{part.name}`"))
            except ModelError as error:
                faults.extend(error.faults)
    if faults:
        raise ModelError(faults)
    start = mechanism.start
    for key, values in (("positions", start.positions), ("speeds", start.speeds)):
        if values:
            section(f"start.{key}", [(_text(c), _numbers(v, f"start.{key}.{c}")) for c, v in values.items()])
    return "\n".join(lines) + "\n"


def _body(body, part):
    kind = [("kind", _text("planar"))] if isinstance(body, PlanarBody) else []
    pairs = dict(_pairs(body, part))
    inertia = np.asarray(body.inertia)  # concrete: `_pairs` has looked at it
    moments = inertia.diagonal() if inertia.ndim else inertia
    # Three moments only where they give back the same bits (no -0.0 beside the diagonal).
    if inertia.ndim and np.diag(moments).tobytes() == inertia.tobytes():
        pairs["inertia"] = _numbers(moments, part)
    return [*kind, *pairs.items()]


def _connection(connection, part):
    pairs = [("bearing", _text(connection.bearing)), ("journal", _text(connection.journal))]
    bearing, journal = connection.frame.bearing, connection.frame.journal
    sides = [_pairs(side, part) for side in (bearing, journal)]
    if sides[0] == sides[1] and not bearing.in_body:
        pairs += [(key, value) for key, value in sides[0] if key != "in_body"]
    else:
        pairs += [(f"{name}_frame", _inline(side)) for name, side in zip(("bearing", "journal"), sides, strict=True)]
    pairs.append(("realisation", _kind(AbstractRealisation, connection.realisation, part)))
    if connection.stops:
        pairs.append(("stops", "[" + ", ".join(_inline(_pairs(s, f"{part}.stops")) for s in connection.stops) + "]"))
    return pairs


def _element(element, part):
    _check_class(AbstractElement, element, part)
    return [("kind", _text(type(element).__name__)), *_pairs(element, part)]


def _marker(marker, part):
    return [("body", _text(marker.body)), *_pairs(marker.placement, part)]


def _pairs(thing, part):
    """Keys and written values of an object, without its name."""
    found = []
    for entry in entries(type(thing)):
        value = getattr(thing, entry.name)
        if entry.name != "name" and value is not None:
            found.append((entry.key, _typed(entry.type, value, f"{part}.{entry.key}")))
    return found


def _typed(kind, value, part):
    """A value as the field's type asks: with `kind` where one of several classes may stand."""
    if typing.get_origin(kind) is tuple:
        return "[" + ", ".join(_typed(typing.get_args(kind)[0], v, part) for v in value) + "]"
    if is_module(kind):
        return _kind(kind, value, part) if is_open(kind) else _inline(_pairs(value, part))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _numbers(value, part)


def _kind(base, thing, part):
    _check_class(base, thing, part)
    return _inline([("kind", _text(type(thing).__name__)), *_pairs(thing, part)])


def _check_class(base, thing, part):
    name = type(thing).__name__
    if needs_python(type(thing)):
        raise ModelError(
            f"{part}: {name} holds a Python function and cannot be written to a model file. Replace it by a part made "
            "of numbers (for a signal: a Table), or keep the mechanism in Python."
        )
    if catalogue(base).get(name) is not type(thing):
        raise ModelError(
            f"{part}: {name} is in no CATALOGUE of mbjax, so a model file with it could not be read; known: "
            f"{', '.join(catalogue(base))}."
        )


def _numbers(value, part):
    if not is_concrete(value):
        raise ModelError(f"{part}: the value is being traced by JAX and is not known yet; write the model outside jit.")
    array = np.asarray(value)
    if np.isnan(array).any():
        raise ModelError(f"{part}: the value is not a number (NaN) and cannot be written to a model file.")
    return _nested(array.tolist())


def _nested(value):
    return "[" + ", ".join(map(_nested, value)) + "]" if isinstance(value, list) else repr(value)


def _inline(pairs):
    return "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"


def _text(value):
    # JSON strings are TOML strings, except that TOML also wants DEL escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
