import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, before_first, beyond, check_corners, check_not_negative, check_order, sharp


class PiecewiseLinear(AbstractFriction):
    """Rises to mu_s N at v0, falls to mu_k N at v1, constant beyond (P3 18).

    `smoothing` > 0 rounds both corners.
    """

    kinetic: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static_speed: np.ndarray = eqx.field(converter=number, default=1e-4, metadata={"unit": "m/s"})  # m/s, v0
    kinetic_speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v1
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m/s"})  # m/s
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "kinetic", "static")
        check_order(self, "static_speed", "kinetic_speed")
        check_corners(self, "static_speed", "kinetic_speed")

    def corner_speeds(self):
        return sharp(self, self.static_speed, self.kinetic_speed)

    def __call__(self, slip, normal, bristle, past=None):
        speed = smooth.norm(slip)
        over, full = beyond(self, speed, past, self.static_speed, self.kinetic_speed)
        fall = (over - full) / (self.kinetic_speed - self.static_speed)
        sliding = self.static * (speed - over) / self.static_speed - fall * (self.static - self.kinetic)
        rising = before_first(self, speed, past, self.static_speed)
        share = jnp.where(rising, self.static / self.static_speed, smooth.over(sliding, speed))
        return -(normal * share)[:, None] * slip, bristle
