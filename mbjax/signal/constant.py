import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import number
from .base import NO_KNOTS, AbstractSignal


class Constant(AbstractSignal):
    """The same value at all times."""

    value: np.ndarray = eqx.field(converter=number)

    def __call__(self, t):
        return self.value + jnp.zeros_like(t)

    def prepared(self):
        return self

    def knots(self):
        return NO_KNOTS
