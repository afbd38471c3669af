import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...array import is_concrete, number
from ...law import CLOSED, OPEN
from .base import AbstractNormal, Press
from .elastic import AbstractElastic


class RestitutionSpring(AbstractNormal):
    """Elastic on approach, e times as strong on return (P2 21); the force jumps where the rate changes sign.

    Steps end on that jump, and its share in the derivative is the saltation term. What will not come back counts as
    dissipated on approach already.
    """

    elastic: AbstractElastic
    restitution: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    layers: int = eqx.field(static=True, init=False, default=1)
    returns: bool = eqx.field(static=True, init=False, default=True)
    jumps: bool = eqx.field(static=True, init=False, default=True)

    def __check_init__(self):
        if is_concrete(self.restitution) and not 0 <= self.restitution <= 1:
            raise ValueError(f"RestitutionSpring: restitution {float(self.restitution):g} must lie between 0 and 1.")

    def offsets(self):
        return jnp.zeros(1)

    def press(self, depth, rate, points):
        del rate
        mode = points.mode[0]
        share = jnp.where(mode == OPEN, 0.0, jnp.where(mode == CLOSED, 1.0, self.restitution))
        deep = jnp.maximum(depth, 0.0)
        elastic = jnp.where(mode == OPEN, 0.0, self.restitution * self.elastic.force(deep))
        stored = jnp.where(mode == OPEN, 0.0, self.restitution * self.elastic.energy(deep))
        return Press(share * self.elastic.force(deep), elastic, stored)
