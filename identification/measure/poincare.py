import equinox as eqx
import jax.numpy as jnp

from .base import AbstractMeasure


class Poincare(AbstractMeasure):
    """Channels once per period: at `since`, `since + period`, ... (s), `count` times; a stroboscopic section.

    These times must be outputs (a sweep's `times` from `Poincare.ts`) for exact values; between outputs they are
    interpolated linearly.
    """

    channels: tuple[str, ...] = eqx.field(static=True, converter=tuple)
    period: float = eqx.field(static=True, converter=float)
    count: int = eqx.field(static=True)
    since: float = eqx.field(static=True, default=0.0, converter=float)

    @property
    def ts(self):
        """The times of the section (s)."""
        return tuple(self.since + k * self.period for k in range(self.count))

    def labels(self):
        return tuple(f"{c} at section {k + 1}" for k in range(self.count) for c in self.channels)

    def __call__(self, trajectory):
        rows = [jnp.interp(jnp.asarray(self.ts), trajectory.ts, trajectory[c]) for c in self.channels]
        return jnp.stack(rows, axis=-1).reshape(-1)
