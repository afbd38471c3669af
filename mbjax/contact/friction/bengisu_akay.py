import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_positive


class BengisuAkay(AbstractFriction):
    """mu_s N (1 - (|v| - v0)^2 / v0^2) below v0, [mu_k + (mu_s - mu_k) exp(-xi (|v| - v0))] N above (P3 19)."""

    kinetic: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static_speed: np.ndarray = eqx.field(converter=number, default=1e-4, metadata={"unit": "m/s"})  # m/s, v0
    decay: np.ndarray = eqx.field(converter=number, default=1000.0, metadata={"unit": "s/m"})  # s/m, xi
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "kinetic", "static", "decay")
        check_positive(self, "static_speed")

    def __call__(self, slip, normal, bristle):
        speed = smooth.norm(slip)
        below = speed < self.static_speed
        rising = self.static * (2 - speed / self.static_speed) / self.static_speed
        past = jnp.maximum(speed - self.static_speed, 0.0)
        sliding = self.kinetic + (self.static - self.kinetic) * jnp.exp(-self.decay * past)
        share = jnp.where(below, rising, smooth.over(sliding, speed))
        return -(normal * share)[:, None] * slip, bristle
