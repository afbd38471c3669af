import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import number
from .base import NO_KNOTS, AbstractSignal


class Harmonic(AbstractSignal):
    """offset + amplitude sin(2 pi frequency t + phase)."""

    amplitude: np.ndarray = eqx.field(converter=number)
    frequency: np.ndarray = eqx.field(converter=number)  # Hz
    phase: np.ndarray = eqx.field(converter=number, default=0.0)  # rad
    offset: np.ndarray = eqx.field(converter=number, default=0.0)

    def __call__(self, t):
        return self.offset + self.amplitude * jnp.sin(2 * jnp.pi * self.frequency * t + self.phase)

    def prepared(self):
        return self

    def knots(self):
        return NO_KNOTS
