"""What a friction law must offer."""

import itertools
from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp

from ... import smooth
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

    def corner_speeds(self):
        """Slip speeds (m/s) in rising order where the force has a corner, infinite where it is rounded. A law that
        names some takes a fourth argument, `past` (points, corners): on which side of each corner to stay (None: on
        that of the slip). Steps end where a slip passes a corner, so that none goes across."""
        return ()

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


def sharp(law, *speeds):
    """Corner speeds, as `corner_speeds` wants them, of a law whose corners `smoothing` rounds."""
    return tuple(jnp.where(law.smoothing > 0, jnp.inf, v) for v in speeds)


def beyond(law, speed, past, *corners):
    """How far each corner lies behind the slip speed (points,), 0 before it; `past` as in `corner_speeds`."""
    sides = [None] * len(corners) if past is None else past.T
    return [smooth.corner(speed - v, law.smoothing, side) for v, side in zip(corners, sides, strict=True)]


def before_first(law, speed, past, corner):
    """Which points lie before the first corner and its rounding."""
    below = speed <= corner - law.smoothing
    return below if past is None else jnp.where(law.smoothing > 0, below, ~past[:, 0])


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
