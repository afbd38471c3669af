import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_positive
from .dahl import capped


class LuGre(AbstractFriction):
    """-(s0 z + s1 z_dot + s2 v), z_dot = v - s0 |v| z / g, g = [mu_k + (mu_s - mu_k) exp(-(|v| / v_s)^2)] N (P5 15-16).

    g is floored at `floor` x its coefficient, the corner rounded over 20 %. As printed, s1 z_dot at touch is about
    s1 v whatever N is; here the damping is s1 g / (g + s1 |v|), so it fades with the normal force, and the sum never
    exceeds static friction. `printed=True` is P5's form. `smoothing` > 0 rounds |v| in z_dot at rest over that speed.
    """

    kinetic: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    static: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    stiffness: np.ndarray = eqx.field(converter=number, default=1e5, metadata={"unit": "N/m"})  # N/m, sigma_0
    damping: np.ndarray = eqx.field(converter=number, default=10**2.5, metadata={"unit": "N*s/m"})  # N s/m, sigma_1
    viscosity: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "N*s/m"})  # N s/m, sigma_2
    stribeck_speed: np.ndarray = eqx.field(converter=number, default=1e-3, metadata={"unit": "m/s"})  # m/s, v_s
    floor: np.ndarray = eqx.field(converter=number, default=1e-2, metadata={"unit": "N"})  # N
    printed: bool = eqx.field(static=True, default=False)
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m/s"})  # m/s
    bristles: int = eqx.field(static=True, init=False, default=3)

    def __check_init__(self):
        check_not_negative(self, "kinetic", "static", "damping", "viscosity", "smoothing")
        check_positive(self, "stiffness", "stribeck_speed", "floor")

    def __call__(self, slip, normal, bristle):
        speed = smooth.norm(slip)
        peak = jnp.exp(-((speed / self.stribeck_speed) ** 2))
        coefficient = self.kinetic + (self.static - self.kinetic) * peak
        g = coefficient * smooth.floored(normal, self.floor)
        rate = slip - self.stiffness * (smooth.length(slip, self.smoothing) * smooth.over(1.0, g))[:, None] * bristle
        if self.printed:
            inner = self.stiffness * bristle + self.damping * rate
        else:
            damping = self.damping * coefficient * normal / (g + self.damping * speed)
            inner = self.stiffness * bristle + damping[:, None] * rate
            inner = capped(inner, jnp.maximum(self.static, self.kinetic) * normal)
        return -(inner + self.viscosity * slip), rate
