import equinox as eqx
import numpy as np

from ... import smooth
from ...array import number
from ...joint.base import CONSTRAINED, FREE, owns
from ...joint.revolute import Revolute
from ...joint.rows import axial, parallel
from .base import AbstractPair, Geometry
from .checks import check_radius_and_clearance


class CircleInCircle(AbstractPair):
    """Journal in bearing in the plane across the axis (P2 8-13): depth = |e| - c, one contact point.

    e leads from the bearing's to the journal's centre. Axial motion and tilt are guided without play (between planar
    bodies there is none). Radius of the journal = radius - clearance. Clearance 0 is legal: contact never ends.
    """

    radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the bearing
    clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, radial
    points: int = eqx.field(static=True, init=False, default=1)

    def __check_init__(self):
        check_radius_and_clearance(self)

    def point_names(self):
        return ("wall",)

    def geometry(self, displacement, turn):
        del turn
        offset = displacement[None, :] * np.array([1.0, 1.0, 0.0])
        normal = smooth.direction(offset)
        return Geometry(
            smooth.norm(offset) - self.clearance, normal, self.radius * normal, (self.radius - self.clearance) * normal
        )

    def tolerance(self):
        return 1e-6 * self.clearance[None] + 1e-12

    def motions(self):
        return owns("contact", CONSTRAINED, CONSTRAINED, FREE)

    def rows(self):
        return (axial(), *parallel())

    def ideal(self):
        return Revolute()
