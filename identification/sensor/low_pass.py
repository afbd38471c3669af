"""Low-pass filters as the differential equations they are, exact for signals that are linear between samples.

Sampling may be uneven, and the cut-off may be fitted. A filter is a sum of its poles: x_k' = p_k x_k + input, output
sum r_k x_k. Before the first sample the input is taken to have stood still at its first value.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from mbjax.array import is_concrete, number

from ..errors import StudyError


class AbstractFilter(eqx.Module):
    @abstractmethod
    def __call__(self, ts, smooth, direct):
        """Filtered (rate of `smooth`) + `direct`, (times,); `smooth` may be None."""


class Unfiltered(AbstractFilter):
    """No limit of bandwidth. The rate of `smooth` is taken by differences of neighbouring samples: its mean over two
    sampling intervals."""

    def __call__(self, ts, smooth, direct):
        return direct if smooth is None else direct + _differences(ts, smooth)


class Butterworth(AbstractFilter):
    """Butterworth low-pass of order 1 to 8; -3 dB at the cut-off, and a lag in time as the real one has."""

    cutoff: np.ndarray = eqx.field(converter=number)  # Hz
    order: int = eqx.field(static=True, default=2)

    def __check_init__(self):
        _check_positive("Butterworth", "cutoff", self.cutoff)
        if self.order not in range(1, 9):
            raise StudyError(f"Butterworth: order {self.order!r} must be a whole number from 1 to 8.")

    def __call__(self, ts, smooth, direct):
        poles, residues = _butterworth(2 * jnp.pi * self.cutoff, self.order)
        seen = jnp.real(_states(poles, ts, direct) @ residues)
        if smooth is None:
            return seen
        # The output's rate: sum r_k (p_k x_k + input), and the r_k add up to zero but for order 1.
        states = _states(poles, ts, smooth)
        return seen + jnp.real(states @ (residues * poles) + smooth * jnp.sum(residues))


class ChannelFrequencyClass(AbstractFilter):
    """SAE J211 / ISO 6487: two-pole Butterworth at 2.0775 x class, once forward and once backward in time (no lag)."""

    frequency_class: np.ndarray = eqx.field(converter=number)  # 60, 180, 600, 1000

    def __check_init__(self):
        _check_positive("ChannelFrequencyClass", "frequency_class", self.frequency_class)

    def __call__(self, ts, smooth, direct):
        poles, residues = _butterworth(2 * jnp.pi * 2.0775 * self.frequency_class, 2)

        def once(ts, signal):
            return jnp.real(_states(poles, ts, signal) @ residues)

        seen = once(-ts[::-1], once(ts, direct)[::-1])[::-1]
        if smooth is None:
            return seen
        first = once(ts, smooth)[::-1]
        rate = jnp.real(_states(poles, -ts[::-1], first) @ (residues * poles))[::-1]
        return seen - rate  # the second pass runs backward


def _check_positive(kind, label, value):
    if is_concrete(value) and not value > 0:
        raise StudyError(f"{kind}: {label} {float(value):g} must be positive.")


def _butterworth(angular, order):
    """Poles (1/s) and residues (1/s) of unit gain at rest."""
    k = np.arange(1, order + 1)
    unit = np.exp(1j * np.pi * (2 * k + order - 1) / (2 * order))
    residues = np.array([1 / np.prod([p - q for j, q in enumerate(unit) if j != i]) for i, p in enumerate(unit)])
    return angular * unit, angular * residues


def _states(poles, ts, signal):
    """x_k at the samples (times, poles)."""
    dt = jnp.diff(ts)[:, None]
    z = poles * dt
    grown = jnp.expm1(z)
    hold = grown / poles
    safe = jnp.where(jnp.abs(z) > 1e-4, z, 1.0)
    # dt (e^z - 1 - z) / z^2, by its series where that cancels.
    ramp = dt * jnp.where(jnp.abs(z) > 1e-4, (jnp.expm1(safe) - safe) / safe**2, 0.5 + z / 6 + z * z / 24)
    push = signal[:-1, None] * hold + jnp.diff(signal)[:, None] * ramp

    def step(x, row):
        factor, push = row
        x = x + factor * x + push
        return x, x

    start = -signal[0] / poles
    _, rest = jax.lax.scan(step, start, (grown, push))
    return jnp.concatenate([start[None], rest])


def _differences(ts, signal):
    """Central differences over neighbours, one-sided at the ends; 0 where time stands still."""
    left = jnp.concatenate([ts[:1], ts[:-1]])
    right = jnp.concatenate([ts[1:], ts[-1:]])
    before = jnp.concatenate([signal[:1], signal[:-1]])
    after = jnp.concatenate([signal[1:], signal[-1:]])
    span = right - left
    return jnp.where(span > 0, (after - before) / jnp.where(span > 0, span, 1.0), 0.0)
