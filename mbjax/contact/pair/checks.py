"""Checks that several pairs share."""

from ...array import is_concrete


def check_positive(part, *fields, what="must be positive"):
    for field in fields:
        value = getattr(part, field)
        if is_concrete(value) and not value > 0:
            raise ValueError(f"{type(part).__name__}: {field} {float(value):g} m {what}.")


def check_radius_and_clearance(pair):
    check_positive(pair, "radius")
    if is_concrete(pair.radius, pair.clearance) and not 0 <= pair.clearance < pair.radius:
        raise ValueError(
            f"{type(pair).__name__}: clearance {float(pair.clearance):g} m must not be negative and must be smaller "
            f"than the radius {float(pair.radius):g} m of the bearing."
        )
