import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import is_concrete, number
from ...law import OPEN
from .base import AbstractNormal, Press
from .elastic import AbstractElastic


class DampedLayer(AbstractNormal):
    """Bushing layer f(d) + b rate while in contact (P1 49). The damper makes the force jump at touch and release.

    `smoothing` > 0 lets the damper fade in over that depth, and rounds the onset of f; 0 is the paper's law.
    """

    elastic: AbstractElastic
    damping: np.ndarray = eqx.field(converter=number, metadata={"unit": "F*s/Q"})  # N s/m or N m s/rad
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "Q"})  # m or rad
    layers: int = eqx.field(static=True, init=False, default=1)
    returns: bool = eqx.field(static=True, init=False, default=False)
    jumps: bool = eqx.field(static=True, init=False, default=True)

    def __check_init__(self):
        for name in ("damping", "smoothing"):
            value = getattr(self, name)
            if is_concrete(value) and value < 0:
                raise ValueError(f"DampedLayer: {name} {float(value):g} must not be negative.")

    def offsets(self):
        return jnp.zeros(1)

    def press(self, depth, rate, points):
        closed = points.mode[0] != OPEN
        deep, slope = smooth.ramp(depth, self.smoothing)
        elastic = self.elastic.force(deep) * slope
        # A closed point may stand a rounding error outside: the sharp damper acts up to the switch.
        faded = self.damping * jnp.where(self.smoothing > 0, slope, 1.0)
        zero = jnp.zeros_like(elastic)
        force = jnp.where(closed, elastic + faded * rate, zero)
        return Press(force, jnp.where(closed, elastic, zero), jnp.where(closed, self.elastic.energy(deep), zero))
