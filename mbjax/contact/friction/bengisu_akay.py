import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, before_first, beyond, check_corners, check_not_negative, check_positive, sharp


class BengisuAkay(AbstractFriction):
    """mu_s N (1 - (|v| - v0)^2 / v0^2) below v0, [mu_k + (mu_s - mu_k) exp(-xi (|v| - v0))] N above (P3 19).

    `smoothing` > 0 rounds the corner at v0.
    """

    kinetic: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static_speed: np.ndarray = eqx.field(converter=number, default=1e-4, metadata={"unit": "m/s"})  # m/s, v0
    decay: np.ndarray = eqx.field(converter=number, default=1000.0, metadata={"unit": "s/m"})  # s/m, xi
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m/s"})  # m/s
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "kinetic", "static", "decay")
        check_positive(self, "static_speed")
        check_corners(self, "static_speed")

    def corner_speeds(self):
        return sharp(self, self.static_speed)

    def __call__(self, slip, normal, bristle, past=None):
        speed = smooth.norm(slip)
        (over,) = beyond(self, speed, past, self.static_speed)
        below = (speed - over) / self.static_speed
        fall = (self.static - self.kinetic) * -jnp.expm1(-self.decay * over)
        sliding = self.static * below * (2 - below) - fall
        rising = self.static * (2 - speed / self.static_speed) / self.static_speed
        low = before_first(self, speed, past, self.static_speed)
        share = jnp.where(low, rising, smooth.over(sliding, speed))
        return -(normal * share)[:, None] * slip, bristle
