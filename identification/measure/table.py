"""A measure from its table in a study: `{kind = "Final", channel = "slider.position.x"}`."""

import dataclasses

from mbjax.io.faults import join

from ..errors import StudyError
from . import CATALOGUE, Custom

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
    if len(faults.messages) > before:
        return None
    try:
        return cls(**given)
    except (StudyError, ValueError, TypeError) as error:
        return faults.add(where, str(error))
