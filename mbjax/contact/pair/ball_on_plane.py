import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...array import number
from ...joint.base import FREE, owns
from ...joint.free import Free
from .base import AbstractPair, Geometry
from .checks import check_positive


class BallOnPlane(AbstractPair):
    """A ball above a plane: depth = R - b . d. The plane passes through the bearing's frame point, its axis b points
    out of the material; the ball's centre is the journal's frame point."""

    radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    points: int = eqx.field(static=True, init=False, default=1)

    def __check_init__(self):
        check_positive(self, "radius")

    def point_names(self):
        return ("plane",)

    def geometry(self, displacement, turn):
        del turn
        normal = np.array([[0.0, 0.0, -1.0]])
        return Geometry(
            (self.radius - displacement[2])[None],
            jnp.asarray(normal),
            (displacement * np.array([1.0, 1.0, 0.0]))[None, :],
            self.radius * normal,
        )

    def tolerance(self):
        return 1e-8 * self.radius[None]

    def motions(self):
        return owns(FREE, "contact", FREE, FREE)

    def rows(self):
        return ()

    def ideal(self):
        return Free()
