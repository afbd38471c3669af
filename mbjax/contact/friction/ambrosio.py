import equinox as eqx
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, beyond, check_corners, check_not_negative, check_order, sharp


class Ambrosio(AbstractFriction):
    """-mu N c(|v|) v / |v| with c rising linearly from 0 at v0 to 1 at v1 (P2 28-29, P3 14).

    Below v0 there is a dead zone: no force, and no gradient either. `smoothing` > 0 rounds the corners at v0 and v1.
    """

    coefficient: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    dead_speed: np.ndarray = eqx.field(converter=number, default=1e-4, metadata={"unit": "m/s"})  # m/s, v0
    full_speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v1
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m/s"})  # m/s
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "coefficient")
        check_order(self, "dead_speed", "full_speed")
        check_corners(self, "dead_speed", "full_speed")

    def corner_speeds(self):
        return sharp(self, self.dead_speed, self.full_speed)

    def __call__(self, slip, normal, bristle, past=None):
        speed = smooth.norm(slip)
        risen, over = beyond(self, speed, past, self.dead_speed, self.full_speed)
        share = (risen - over) / (self.full_speed - self.dead_speed)
        return -(self.coefficient * normal * smooth.over(share, speed))[:, None] * slip, bristle
