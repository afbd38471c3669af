import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from .base import AbstractFriction, check_not_negative, check_positive


class Dahl(AbstractFriction):
    """-s0 z with z_dot = v - s0 |v| z / (mu N) (P5 14-15; |v| z is the objective form of z sgn(v)).

    mu N is floored at mu x `floor` in the bristle's equation (the corner rounded over 20 %: a sharp one makes the
    sensitivity of the bristle jump by orders of magnitude), and the force never exceeds mu N, so that it vanishes
    with the normal force; the bristle starts at 0 with every contact. `smoothing` > 0 rounds |v| at rest
    over that speed.
    """

    coefficient: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    stiffness: np.ndarray = eqx.field(converter=number, default=1e5, metadata={"unit": "N/m"})  # N/m, sigma_0
    floor: np.ndarray = eqx.field(converter=number, default=1e-2, metadata={"unit": "N"})  # N
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m/s"})  # m/s
    bristles: int = eqx.field(static=True, init=False, default=3)

    def __check_init__(self):
        check_not_negative(self, "coefficient", "smoothing")
        check_positive(self, "stiffness", "floor")

    def __call__(self, slip, normal, bristle):
        level = self.coefficient * smooth.floored(normal, self.floor)
        speed = smooth.length(slip, self.smoothing)
        rate = slip - self.stiffness * (speed * smooth.over(1.0, level))[:, None] * bristle
        return -capped(self.stiffness * bristle, self.coefficient * normal), rate


def capped(force, limit):
    """A bristle's force (points, 3), cut to `limit`: the normal force may fall faster than a bristle can follow."""
    size = smooth.norm(force)
    return jnp.where(size > limit, smooth.over(limit, size), 1.0)[:, None] * force
