"""A measure from its table in a study: `{kind = "Final", channel = "slider.position.x"}`."""

import dataclasses

from mbjax.io.faults import describe, join

from ..errors import StudyError
from ..quantity import read_number
from . import CATALOGUE, Custom

_UNITS = {"since": "s", "period": "s", "times": "s", "frequencies": "Hz"}
_WHOLE = ("count", "room")
_LISTS = ("times", "frequencies", "channels")

KINDS = {cls.__name__: cls for cls in CATALOGUE if cls is not Custom}


def measure_from_table(table, where, faults):
    """The measure, or None after faults."""
    if not isinstance(table, dict) or "kind" not in table:
        return faults.add(where, 'needs a kind, such as `{kind = "Final", channel = "slider.position.x"}`.')
    if table["kind"] not in KINDS:
        return faults.choice(join(where, "kind"), table["kind"], "a measure", list(KINDS))
    cls = KINDS[table["kind"]]
    fields = {f.name: f for f in dataclasses.fields(cls)}
    before = len(faults.messages)
    given = {k: v for k, v in table.items() if k != "kind"}
    faults.unknown_keys(where, given, list(fields))
    for name, field in fields.items():
        if field.default is dataclasses.MISSING and name not in given:
            faults.missing(where, name, "...")
    given = {name: _value(name, value, join(where, name), faults) for name, value in given.items()}
    if len(faults.messages) > before:
        return None
    try:
        return cls(**given)
    except (StudyError, ValueError, TypeError) as error:
        return faults.add(where, str(error))


def _value(name, raw, where, faults):
    """A field of a measure: numbers may have units, all else is text."""
    if name in _LISTS:
        if not isinstance(raw, list) or not raw:
            return faults.add(where, f"is {describe(raw)}; expected a list.")
        return tuple(_single(name, x, f"{where}[{k}]", faults) for k, x in enumerate(raw))
    return _single(name, raw, where, faults)


def _single(name, raw, where, faults):
    if name in _UNITS:
        return read_number(raw, _UNITS[name], where, faults)
    if name in _WHOLE:
        good = isinstance(raw, int) and not isinstance(raw, bool) and raw > 0
        return raw if good else faults.add(where, f"is {describe(raw)}; expected a whole number above 0.")
    return raw if isinstance(raw, str) else faults.add(where, f"is {describe(raw)}; expected text.")
