from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import array_of, is_concrete
from .base import AbstractSignal


class Table(AbstractSignal):
    """Measured values over time.

    interpolation `linear`: straight lines (for measured forces; knots are handed to the integrator);
    interpolation `spline`: natural cubic spline, continuous in acceleration (for drivers, where the implied
    acceleration acts as a force: look at it with `signal.rates`). Outside the table `linear` holds the end values and
    `spline` goes on with the end slope; both are extrapolations and only `Table.covers` times are measured.
    """

    times: np.ndarray = eqx.field(converter=array_of(None))  # s, increasing
    values: np.ndarray = eqx.field(converter=array_of(None))
    interpolation: Literal["linear", "spline"] = eqx.field(static=True, default="linear")

    def __check_init__(self):
        if self.interpolation not in ("linear", "spline"):
            raise ValueError(f"Table: interpolation {self.interpolation!r} is unknown; choose `linear` or `spline`.")
        if self.times.shape != self.values.shape or self.times.shape[0] < 2:
            raise ValueError(
                f"Table: {self.times.shape[0]} times and {self.values.shape[0]} values; as many of each, at least 2."
            )
        if is_concrete(self.times, self.values):
            bad = np.flatnonzero(~(np.diff(self.times) > 0))
            if bad.size:
                k = int(bad[0])
                raise ValueError(
                    f"Table: times must increase; entry {k + 1} ({self.times[k + 1]:g} s) does not follow entry {k} "
                    f"({self.times[k]:g} s)."
                )
            if not np.isfinite(self.values).all():
                k = int(np.flatnonzero(~np.isfinite(self.values))[0])
                raise ValueError(f"Table: value {k} (at {self.times[k]:g} s) is not a finite number.")

    def __call__(self, t):
        return self.prepared()(t)

    def prepared(self):
        times, values = jnp.asarray(self.times), jnp.asarray(self.values)
        if self.interpolation == "linear":
            return _Line(times, values)
        return _Spline(times, values, self.curvatures())

    def curvatures(self):
        """Second derivatives of the natural spline at the table's times."""
        return _curvatures(jnp.asarray(self.times), jnp.asarray(self.values))

    def knots(self):
        return self.times

    @staticmethod
    def smoothed(times, values, *, cutoff):
        """A spline table of `values` low-passed at `cutoff` Hz, to drive a mechanism with measured motion.

        The filter is the smoothing spline on the samples (penalised second difference), without phase shift; its gain
        is one half at `cutoff`. Compare `table.values` with the data to see what it takes away.
        """
        from scipy.linalg import solveh_banded

        times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
        weight = 1.0 / (2 * np.pi * cutoff * np.median(np.diff(times))) ** 4
        n = len(values)
        if n < 5:
            raise ValueError(f"Table.smoothed: {n} samples are too few to filter; give at least 5.")
        bands = np.zeros((3, n))  # I + weight D2^T D2, upper form
        bands[2] = 1 + weight * np.r_[1, 5, np.full(n - 4, 6.0), 5, 1]
        bands[1, 1:] = weight * np.r_[-2, np.full(n - 3, -4.0), -2]
        bands[0, 2:] = weight
        return Table(times, solveh_banded(bands, values), "spline")


def _curvatures(x, y):
    h = jnp.diff(x)
    slope = jnp.diff(y) / h
    one = jnp.ones(1)
    lower = jnp.concatenate([jnp.zeros(1), h[:-1], jnp.zeros(1)])
    upper = jnp.concatenate([jnp.zeros(1), h[1:], jnp.zeros(1)])
    diagonal = jnp.concatenate([one, 2 * (h[:-1] + h[1:]), one])
    right = jnp.concatenate([jnp.zeros(1), 6 * jnp.diff(slope), jnp.zeros(1)])
    return _tridiagonal(lower, diagonal, upper, right)


def _tridiagonal(lower, diagonal, upper, right):
    """Thomas algorithm (diagonally dominant, so no pivoting is needed)."""

    def forward(carry, row):
        c, d = carry
        a, b, u, r = row
        pivot = b - a * c
        c, d = u / pivot, (r - a * d) / pivot
        return (c, d), (c, d)

    zero = jnp.zeros(())
    _, (c, d) = jax.lax.scan(forward, (zero, zero), (lower, diagonal, upper, right))

    def backward(x, row):
        ci, di = row
        x = di - ci * x
        return x, x

    _, x = jax.lax.scan(backward, zero, (c, d), reverse=True)
    return x


class _Line(eqx.Module):
    times: jax.Array
    values: jax.Array

    def __call__(self, t):
        return jnp.interp(t, self.times, self.values)


class _Spline(eqx.Module):
    times: jax.Array
    values: jax.Array
    curvatures: jax.Array

    def __call__(self, t):
        x, y, m = self.times, self.values, self.curvatures
        k = jnp.clip(jnp.searchsorted(x, t, side="right") - 1, 0, x.shape[0] - 2)
        h = x[k + 1] - x[k]
        inside = jnp.clip(t, x[0], x[-1])
        a, b = (x[k + 1] - inside) / h, (inside - x[k]) / h
        value = a * y[k] + b * y[k + 1] + ((a**3 - a) * m[k] + (b**3 - b) * m[k + 1]) * h * h / 6
        slope = (y[k + 1] - y[k]) / h + ((1 - 3 * a * a) * m[k] + (3 * b * b - 1) * m[k + 1]) * h / 6
        # Beyond the ends the curve goes on with its end slope; the natural spline has m = 0 there.
        return value + slope * (t - inside)
