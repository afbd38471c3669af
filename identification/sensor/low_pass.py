"""Low-pass filters as the differential equations they are, exact for signals that are linear between samples, and for
rates of signals that are cubic there.

Sampling may be uneven, and the cut-off may be fitted. A filter is a sum of its poles: x_k' = p_k x_k + input, output
sum r_k x_k. Before the first sample the input is taken to have stood still at its first value.
"""

import math
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from mbjax.array import is_concrete, number

from ..errors import StudyError


class AbstractFilter(eqx.Module):
    @abstractmethod
    def __call__(self, ts, smooth, slope, direct):
        """Filtered (rate of `smooth`) + `direct`, (times,); `slope` is that rate at the samples. Both may be None."""


class Unfiltered(AbstractFilter):
    """No limit of bandwidth. The rate of `smooth` is taken by differences of neighbouring samples: its mean over two
    sampling intervals."""

    def __call__(self, ts, smooth, slope, direct):
        del slope
        return direct if smooth is None else direct + _differences(ts, smooth)


class Butterworth(AbstractFilter):
    """Butterworth low-pass of order 1 to 8; -3 dB at the cut-off, and a lag in time as the real one has."""

    cutoff: np.ndarray = eqx.field(converter=number)  # Hz
    order: int = eqx.field(static=True, default=2)

    def __check_init__(self):
        _check_positive("Butterworth", "cutoff", self.cutoff)
        if self.order not in range(1, 9):
            raise StudyError(f"Butterworth: order {self.order!r} must be a whole number from 1 to 8.")

    def __call__(self, ts, smooth, slope, direct):
        poles, residues = _butterworth(2 * jnp.pi * self.cutoff, self.order)
        states = _states(poles, ts, direct)
        if smooth is not None:
            states = states + _states_of_rate(poles, ts, smooth, slope)
        return jnp.real(states @ residues)


class ChannelFrequencyClass(AbstractFilter):
    """SAE J211 / ISO 6487: two-pole Butterworth at 2.0775 x class, once forward and once backward in time (no lag)."""

    frequency_class: np.ndarray = eqx.field(converter=number)  # 60, 180, 600, 1000

    def __check_init__(self):
        _check_positive("ChannelFrequencyClass", "frequency_class", self.frequency_class)

    def __call__(self, ts, smooth, slope, direct):
        poles, residues = _butterworth(2 * jnp.pi * 2.0775 * self.frequency_class, 2)
        states = _states(poles, ts, direct)
        if smooth is not None:
            states = states + _states_of_rate(poles, ts, smooth, slope)
        once = jnp.real(states @ residues)
        return jnp.real(_states(poles, -ts[::-1], once[::-1]) @ residues)[::-1]


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
    """x_k at the samples (times, poles) for an input that is linear between them."""
    dt = jnp.diff(ts)[:, None]
    hold, ramp, _ = _phi(poles * dt)
    push = dt * (signal[:-1, None] * hold + jnp.diff(signal)[:, None] * ramp)
    return _march(poles * dt, push, -signal[0] / poles)


def _states_of_rate(poles, ts, smooth, slope):
    """x_k at the samples for the rate of a signal with these values and slopes there, cubic between them."""
    dt = jnp.diff(ts)[:, None]
    hold, ramp, bend = _phi(poles * dt)
    a, b = slope[:-1, None], slope[1:, None]
    still = dt == 0
    mean = jnp.where(still, a, jnp.diff(smooth)[:, None] / jnp.where(still, 1.0, dt))
    push = dt * (a * hold + (6 * mean - 4 * a - 2 * b) * ramp + 2 * (3 * a + 3 * b - 6 * mean) * bend)
    return _march(poles * dt, push, jnp.zeros_like(poles))


def _phi(z):
    """(e^z - 1) / z, (e^z - 1 - z) / z^2 and (e^z - 1 - z - z^2 / 2) / z^3, by their series where they cancel."""
    small = jnp.abs(z) < 0.1
    safe = jnp.where(small, 1.0, z)
    series = sum(z**k / math.factorial(k + 3) for k in range(8))
    bend = jnp.where(small, series, (jnp.expm1(safe) - safe - 0.5 * safe * safe) / safe**3)
    ramp = 0.5 + z * bend
    return 1 + z * ramp, ramp, bend


def _march(z, push, start):
    """x_(n+1) = e^z x_n + push_n."""

    def step(x, row):
        factor, push = row
        x = x + factor * x + push
        return x, x

    _, rest = jax.lax.scan(step, start, (jnp.expm1(z), push))
    return jnp.concatenate([start[None], rest])


def _differences(ts, signal):
    """Central differences over neighbours, one-sided at the ends; 0 where time stands still."""
    left = jnp.concatenate([ts[:1], ts[:-1]])
    right = jnp.concatenate([ts[1:], ts[-1:]])
    before = jnp.concatenate([signal[:1], signal[:-1]])
    after = jnp.concatenate([signal[1:], signal[-1:]])
    span = right - left
    return jnp.where(span > 0, (after - before) / jnp.where(span > 0, span, 1.0), 0.0)
