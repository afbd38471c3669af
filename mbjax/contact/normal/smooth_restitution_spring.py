import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import is_concrete, number
from ...law import OPEN
from .base import AbstractNormal, Press
from .elastic import AbstractElastic, check_positive


class SmoothRestitutionSpring(AbstractNormal):
    """P1 54: elastic x [e + (1 - e) (3 r^2 - 2 r^3)] with r = rate / v0 held within 0 and 1.

    The smooth form of `RestitutionSpring`: full force when approaching faster than v0, e times it on return.
    """

    elastic: AbstractElastic
    restitution: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    speed: np.ndarray = eqx.field(converter=number, metadata={"unit": "Q/s"})  # m/s or rad/s, v0
    layers: int = eqx.field(static=True, init=False, default=1)
    returns: bool = eqx.field(static=True, init=False, default=False)
    jumps: bool = eqx.field(static=True, init=False, default=False)

    def __check_init__(self):
        check_positive(self, "speed")
        if is_concrete(self.restitution) and not 0 <= self.restitution <= 1:
            raise ValueError(
                f"SmoothRestitutionSpring: restitution {float(self.restitution):g} must lie between 0 and 1."
            )

    def offsets(self):
        return jnp.zeros(1)

    def press(self, depth, rate, points):
        closed = points.mode[0] != OPEN
        deep = jnp.maximum(depth, 0.0)
        share = self.restitution + (1 - self.restitution) * smooth.blend(rate / self.speed)
        elastic = jnp.where(closed, self.elastic.force(deep), 0.0)
        stored = jnp.where(closed, self.restitution * self.elastic.energy(deep), 0.0)
        return Press(share * elastic, self.restitution * elastic, stored)
