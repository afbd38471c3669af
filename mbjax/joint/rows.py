"""Primitive constraint rows. Displacement d points from the bearing's to the journal's frame point.

A perfect joint is a list of these; its Jacobian and acceleration term follow from them (closed forms in
`dynamics.py`, compared in the tests with derivatives of `residual`).
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import array_of, number, vector

AXES = {"h": np.eye(3)[0], "t": np.eye(3)[1], "b": np.eye(3)[2]}


def _direction(value):
    """One of the frame's own axes by name (then it costs nothing), or a vector in frame axes."""
    return value if isinstance(value, str) else vector(value)


def components(direction):
    return jnp.asarray(AXES[direction] if isinstance(direction, str) else direction)


class Offset(eqx.Module):
    """u . d - value = 0, with u fixed to the bearing. The printed `d.d - d0^2` (P1 8, 10) has a zero Jacobian at
    d0 = 0; this form does not."""

    label: str = eqx.field(static=True)
    direction: str | np.ndarray = eqx.field(converter=_direction)  # in bearing frame axes (h, t, b)
    value: np.ndarray = eqx.field(converter=number, default=0.0)  # m

    def residual(self, displacement, rotation, t):
        del rotation, t
        return jnp.dot(components(self.direction), displacement) - self.value


class Dot(eqx.Module):
    """u . w - value = 0, with u fixed to the bearing and w to the journal (P1 5, 6, 9)."""

    label: str = eqx.field(static=True)
    bearing: str | np.ndarray = eqx.field(converter=_direction)  # in bearing frame axes
    journal: str | np.ndarray = eqx.field(converter=_direction)  # in journal frame axes
    value: np.ndarray = eqx.field(converter=number, default=0.0)

    def residual(self, displacement, rotation, t):
        del displacement, t
        return jnp.dot(components(self.bearing), rotation @ components(self.journal)) - self.value


class Length(eqx.Module):
    """(d.d - L^2) / (2 L) = 0: distance joint of length L > 0; its multiplier is the force in the link."""

    label: str = eqx.field(static=True)
    length: np.ndarray = eqx.field(converter=number)  # m

    def residual(self, displacement, rotation, t):
        del rotation, t
        return (jnp.dot(displacement, displacement) / self.length - self.length) / 2


class Custom(eqx.Module):
    """Rows of the user: `function(displacement, rotation, t, values)` returns the residuals, one per label.

    `displacement` (3) and `rotation` (3x3, journal relative to bearing) are in bearing frame axes. The function must
    be smooth and traceable by JAX; its derivatives are taken automatically.
    """

    labels: tuple[str, ...] = eqx.field(static=True)
    function: Callable = eqx.field(static=True)
    values: np.ndarray = eqx.field(converter=array_of(None), default_factory=lambda: np.zeros(0))

    def residual(self, displacement, rotation, t):
        return self.function(displacement, rotation, t, self.values)


def coincident():
    """The two frame points coincide (3 rows)."""
    return (*radial(), axial())


def radial():
    return (Offset("radial h", "h"), Offset("radial t", "t"))


def axial():
    return Offset("axial", "b")


def parallel():
    """The two axes are parallel (2 rows)."""
    return (Dot("tilt about t", "h", "b"), Dot("tilt about h", "t", "b"))


def no_spin():
    return Dot("spin", "t", "h")
