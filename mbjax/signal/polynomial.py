import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import array_of
from .base import NO_KNOTS, AbstractSignal


class Polynomial(AbstractSignal):
    """c0 + c1 t + c2 t^2 + ..."""

    coefficients: np.ndarray = eqx.field(converter=array_of(None))

    def __check_init__(self):
        if self.coefficients.shape[0] == 0:
            raise ValueError("Polynomial: give at least one coefficient.")

    def __call__(self, t):
        return jnp.polyval(jnp.asarray(self.coefficients)[::-1], t)

    def prepared(self):
        return self

    def knots(self):
        return NO_KNOTS
