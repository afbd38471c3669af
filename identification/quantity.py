"""Numbers of study files: plain, or text with a unit."""

from mbjax.io.faults import describe
from mbjax.units import UnitError, parse_quantity


def read_number(value, unit, where, faults):
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return faults.add(where, f"is {describe(value)}; expected a number, or text such as `12 mm`.")
    try:
        return float(parse_quantity(value, unit or None)) if isinstance(value, str) else float(value)
    except UnitError as error:
        return faults.add(where, str(error))
