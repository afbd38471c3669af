import equinox as eqx
import jax.numpy as jnp

from .base import AbstractMeasure


class EnergyLoss(AbstractMeasure):
    """Energy (J) lost in each of the cycles that begin at the given times and end at the next one.

    The times must be outputs or lie between them (then the energy is linear in between).
    """

    times: tuple[float, ...] = eqx.field(static=True, converter=lambda x: tuple(float(v) for v in x))

    def labels(self):
        return tuple(f"energy lost {a:g} to {b:g} s" for a, b in zip(self.times, self.times[1:], strict=False))

    def __call__(self, trajectory):
        return jnp.diff(jnp.interp(jnp.asarray(self.times), trajectory.ts, trajectory["energy.dissipated"]))
