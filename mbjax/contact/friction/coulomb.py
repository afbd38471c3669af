import equinox as eqx
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_positive


class Coulomb(AbstractFriction):
    """-mu N tanh(|v| / v_s) v / |v| (P5 10 with a regularised sign). `speed` -> 0 is Coulomb's law; there is no true
    sticking: under load the contact creeps at a fraction of `speed` (P3 12's stiction branch needs the external force
    and is not built)."""

    coefficient: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "coefficient")
        check_positive(self, "speed")

    def __call__(self, slip, normal, bristle):
        share = smooth.tanh_over(smooth.norm(slip), self.speed)
        return -(self.coefficient * normal * share)[:, None] * slip, bristle
