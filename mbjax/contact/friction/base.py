"""What a friction law must offer."""

import itertools
from abc import abstractmethod

import equinox as eqx

from ...array import is_concrete


class AbstractFriction(eqx.Module):
    """Tangential force on the journal at each contact point.

    `bristles` is 3 for laws with a bristle (a deflection in the tangent plane, in bearing axes, carried along as the
    contact point wanders) and 0 for others. `jumps` says that there is a force at touch already, where the normal
    force is still zero.
    """

    bristles: eqx.AbstractVar[int]  # static

    @property
    def jumps(self):
        return False

    @abstractmethod
    def __call__(self, slip, normal, bristle):
        """Force (points, 3) and rate of the bristles (points, bristles) for slip velocity (points, 3), magnitude of
        the normal force (points,) and bristles (points, bristles). Only asked of points that touch; what does not
        depend on the normal force then acts up to the switch, whatever rounding makes of the depth there."""


def check_not_negative(law, *fields):
    for field in fields:
        value = getattr(law, field)
        if is_concrete(value) and value < 0:
            raise ValueError(f"{type(law).__name__}: {field} {float(value):g} must not be negative.")


def check_positive(law, *fields):
    for field in fields:
        value = getattr(law, field)
        if is_concrete(value) and not value > 0:
            raise ValueError(f"{type(law).__name__}: {field} {float(value):g} must be positive.")


def check_corners(law, *speeds):
    """Corners at `speeds`, rounded over `smoothing` to either side, must not run into each other nor into rest."""
    check_not_negative(law, "smoothing")
    values = [getattr(law, field) for field in speeds]
    if is_concrete(law.smoothing, *values):
        most = min([values[0], *(0.5 * (b - a) for a, b in itertools.pairwise(values))])
        if law.smoothing > most:
            raise ValueError(
                f"{type(law).__name__}: smoothing {float(law.smoothing):g} m/s reaches from one corner into the next "
                f"or to rest; at most {float(most):g}."
            )


def check_order(law, low, high):
    a, b = getattr(law, low), getattr(law, high)
    if is_concrete(a, b) and not 0 <= a < b:
        raise ValueError(f"{type(law).__name__}: {low} {float(a):g} must lie between 0 and {high} {float(b):g}.")
