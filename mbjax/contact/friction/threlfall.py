import equinox as eqx
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_positive


class Threlfall(AbstractFriction):
    """-mu N tanh(|v| / v1) v / |v| (P3 15)."""

    coefficient: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v1
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "coefficient")
        check_positive(self, "speed")

    def __call__(self, slip, normal, bristle):
        share = smooth.tanh_over(smooth.norm(slip), self.speed)
        return -(self.coefficient * normal * share)[:, None] * slip, bristle
