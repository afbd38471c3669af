import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_positive


class Stribeck(AbstractFriction):
    """-[mu_k N + (mu_s - mu_k) N exp(-(|v| / v_s)^2)] tanh(|v| / v_r) v / |v| - s2 v (P3 16, P5 12)."""

    kinetic: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    stribeck_speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v_s
    viscosity: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "N*s/m"})  # N s/m, sigma_2
    speed: np.ndarray = eqx.field(
        converter=number, default=1e-3, metadata={"unit": "m/s"}
    )  # m/s, of the regularised sign
    bristles: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        check_not_negative(self, "kinetic", "static", "viscosity")
        check_positive(self, "stribeck_speed", "speed")

    @property
    def jumps(self):
        # The viscous part does not depend on the normal force.
        return True

    def __call__(self, slip, normal, bristle):
        speed = smooth.norm(slip)
        peak = jnp.exp(-((speed / self.stribeck_speed) ** 2))
        coefficient = self.kinetic + (self.static - self.kinetic) * peak
        share = smooth.tanh_over(speed, self.speed)
        return -(coefficient * normal * share + self.viscosity)[:, None] * slip, bristle
