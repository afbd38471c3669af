import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...array import is_concrete, number
from ...law import OPEN
from .base import AbstractNormal, Press
from .elastic import AbstractElastic


class DampedLayer(AbstractNormal):
    """Bushing layer f(d) + b rate while in contact (P1 49). The damper makes the force jump at touch and release."""

    elastic: AbstractElastic
    damping: np.ndarray = eqx.field(converter=number, metadata={"unit": "F*s/Q"})  # N s/m or N m s/rad
    layers: int = eqx.field(static=True, init=False, default=1)
    returns: bool = eqx.field(static=True, init=False, default=False)
    jumps: bool = eqx.field(static=True, init=False, default=True)

    def __check_init__(self):
        if is_concrete(self.damping) and self.damping < 0:
            raise ValueError(f"DampedLayer: damping {float(self.damping):g} must not be negative.")

    def offsets(self):
        return jnp.zeros(1)

    def press(self, depth, rate, points):
        closed = points.mode[0] != OPEN
        deep = jnp.maximum(depth, 0.0)
        elastic = self.elastic.force(deep)
        zero = jnp.zeros_like(elastic)
        force = jnp.where(closed, elastic + self.damping * rate, zero)
        return Press(force, jnp.where(closed, elastic, zero), jnp.where(closed, self.elastic.energy(deep), zero))
