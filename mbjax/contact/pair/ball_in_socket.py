import equinox as eqx
import numpy as np

from ... import smooth
from ...array import number
from ...joint.base import FREE, owns
from ...joint.spherical import Spherical
from .base import AbstractPair, Geometry
from .checks import check_radius_and_clearance


class BallInSocket(AbstractPair):
    """Ball in a spherical socket (P3 1-7): depth = |e| - c, one contact point.

    Radius of the ball = radius - clearance. `at_centres` lets the force act on the
    two centres (P1's spherical joint): no moment, and slip is that of the centres.
    Clearance 0 is legal: contact never ends.
    """

    radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the socket
    clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, radial
    at_centres: bool = eqx.field(static=True, default=False)  # forces act at the centres instead of the surfaces
    points: int = eqx.field(static=True, init=False, default=1)

    def __check_init__(self):
        check_radius_and_clearance(self)

    def point_names(self):
        return ("wall",)

    def geometry(self, displacement, turn):
        del turn
        offset = displacement[None, :]
        normal = smooth.direction(offset)
        reach = 0.0 if self.at_centres else 1.0
        return Geometry(
            smooth.norm(offset) - self.clearance,
            normal,
            reach * self.radius * normal,
            reach * (self.radius - self.clearance) * normal,
        )

    def tolerance(self):
        return 1e-6 * self.clearance[None] + 1e-12

    def motions(self):
        return owns("contact", "contact", FREE, FREE)

    def rows(self):
        return ()

    def ideal(self):
        return Spherical()
