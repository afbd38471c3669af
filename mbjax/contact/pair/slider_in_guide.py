import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...array import is_concrete, number
from ...joint.base import CONSTRAINED, FREE, owns
from ...joint.rows import Dot, Offset
from ...joint.translation import Translation
from .base import AbstractPair, Geometry
from .checks import check_positive

_END = np.array([1.0, -1.0, 1.0, -1.0])
_SIDE = np.array([1.0, 1.0, -1.0, -1.0])


class SliderInGuide(AbstractPair):
    """Rectangular slider between two parallel walls (translational clearance), four corners as contact points.

    The guide runs along the axis b of the frame, its walls lie at +-(height / 2 + clearance) along t; motion along h
    and turning about t and b are guided without play (between planar bodies there is none).
    """

    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the slider along b
    height: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the slider along t
    clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, on either side
    points: int = eqx.field(static=True, init=False, default=4)

    def __check_init__(self):
        check_positive(self, "length", "height")
        if is_concrete(self.clearance) and self.clearance < 0:
            raise ValueError(f"SliderInGuide: clearance {float(self.clearance):g} m must not be negative.")

    def point_names(self):
        return ("front upper", "rear upper", "front lower", "rear lower")

    def geometry(self, displacement, turn):
        zero = np.zeros(4)
        corners = jnp.stack([zero, 0.5 * self.height * _SIDE, 0.5 * self.length * _END], axis=-1) @ turn.T
        places = displacement + corners
        wall = 0.5 * self.height + self.clearance
        normal = jnp.asarray(_SIDE[:, None] * np.array([0.0, 1.0, 0.0]))
        on_wall = places * np.array([1.0, 0.0, 1.0]) + wall * normal
        return Geometry(_SIDE * places[:, 1] - wall, normal, on_wall, corners)

    def tolerance(self):
        return jnp.full(4, 1e-6 * self.clearance + 1e-12)

    def motions(self):
        return owns("contact", FREE, "contact", CONSTRAINED)

    def rows(self):
        return (Offset("radial h", "h"), Dot("tilt about t", "b", "h"), Dot("spin", "t", "h"))

    def ideal(self):
        return Translation()
