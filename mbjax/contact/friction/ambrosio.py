import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_order


class Ambrosio(AbstractFriction):
    """-mu N c(|v|) v / |v| with c rising linearly from 0 at v0 to 1 at v1 (P2 28-29, P3 14).

    Below v0 there is a dead zone: no force, and no gradient either.
    """

    coefficient: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    dead_speed: np.ndarray = eqx.field(converter=number, default=1e-4, metadata={"unit": "m/s"})  # m/s, v0
    full_speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v1
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "coefficient")
        check_order(self, "dead_speed", "full_speed")

    def __call__(self, slip, normal, bristle):
        speed = smooth.norm(slip)
        share = jnp.clip((speed - self.dead_speed) / (self.full_speed - self.dead_speed), 0.0, 1.0)
        return -(self.coefficient * normal * smooth.over(share, speed))[:, None] * slip, bristle
