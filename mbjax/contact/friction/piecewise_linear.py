import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_order


class PiecewiseLinear(AbstractFriction):
    """Rises to mu_s N at v0, falls to mu_k N at v1, constant beyond (P3 18)."""

    kinetic: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static_speed: np.ndarray = eqx.field(converter=number, default=1e-4, metadata={"unit": "m/s"})  # m/s, v0
    kinetic_speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v1
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "kinetic", "static")
        check_order(self, "static_speed", "kinetic_speed")

    def __call__(self, slip, normal, bristle):
        speed = smooth.norm(slip)
        fall = jnp.clip((speed - self.static_speed) / (self.kinetic_speed - self.static_speed), 0.0, 1.0)
        sliding = self.static - fall * (self.static - self.kinetic)
        rising = speed <= self.static_speed
        share = jnp.where(rising, self.static / self.static_speed, smooth.over(sliding, speed))
        return -(normal * share)[:, None] * slip, bristle
