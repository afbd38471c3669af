import equinox as eqx
import jax.numpy as jnp

from .base import AbstractMeasure


def _weights(ts, since):
    """Trapezoidal weights over the samples from `since` on (times,), summing to one."""
    ts = jnp.asarray(ts)
    inside = ts >= since
    step = jnp.diff(ts) * inside[:-1]
    half = jnp.concatenate([step, jnp.zeros(1)]) + jnp.concatenate([jnp.zeros(1), step])
    return half / jnp.sum(half)


class Final(AbstractMeasure):
    """A channel at the end."""

    channel: str = eqx.field(static=True)

    def labels(self):
        return (f"final {self.channel}",)

    def __call__(self, trajectory):
        return trajectory[self.channel][-1:]


class Mean(AbstractMeasure):
    """The mean of a channel over time, from `since` (s) on."""

    channel: str = eqx.field(static=True)
    since: float = eqx.field(static=True, default=0.0, converter=float)

    def labels(self):
        return (f"mean {self.channel}",)

    def __call__(self, trajectory):
        return jnp.sum(_weights(trajectory.ts, self.since) * trajectory[self.channel])[None]


class RootMeanSquare(AbstractMeasure):
    """The root mean square of a channel over time, from `since` (s) on."""

    channel: str = eqx.field(static=True)
    since: float = eqx.field(static=True, default=0.0, converter=float)

    def labels(self):
        return (f"rms {self.channel}",)

    def __call__(self, trajectory):
        square = jnp.sum(_weights(trajectory.ts, self.since) * trajectory[self.channel] ** 2)
        return jnp.sqrt(jnp.where(square > 0, square, 1.0))[None] * (square > 0)


class PeakToPeak(AbstractMeasure):
    """Largest less smallest sample of a channel from `since` (s) on."""

    channel: str = eqx.field(static=True)
    since: float = eqx.field(static=True, default=0.0, converter=float)

    def labels(self):
        return (f"peak to peak {self.channel}",)

    def __call__(self, trajectory):
        x, inside = trajectory[self.channel], trajectory.ts >= self.since
        return (jnp.max(jnp.where(inside, x, -jnp.inf)) - jnp.min(jnp.where(inside, x, jnp.inf)))[None]


class Spectrum(AbstractMeasure):
    """Amplitudes of a channel at given frequencies (Hz), by Fourier integrals over the samples from `since` (s) on; the
    mean is taken off. Choose frequencies that fit the window a whole number of times."""

    channel: str = eqx.field(static=True)
    frequencies: tuple[float, ...] = eqx.field(static=True, converter=lambda x: tuple(float(v) for v in x))
    since: float = eqx.field(static=True, default=0.0, converter=float)

    def labels(self):
        return tuple(f"{self.channel} at {f:g} Hz" for f in self.frequencies)

    def __call__(self, trajectory):
        weights = _weights(trajectory.ts, self.since)
        x = trajectory[self.channel]
        x = x - jnp.sum(weights * x)
        phase = 2 * jnp.pi * jnp.asarray(self.frequencies)[:, None] * trajectory.ts
        real, imaginary = jnp.cos(phase) @ (weights * x), jnp.sin(phase) @ (weights * x)
        square = real**2 + imaginary**2
        return 2 * jnp.sqrt(jnp.where(square > 0, square, 1.0)) * (square > 0)
