import numpy as np

from .. import rotation
from ..body import SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import frame
from ..joint import Revolute
from ..mechanism import Mechanism

# Along the edges of a unit cube: each hinge is normal to the two rods it joins. The sixth edge is the ground.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=float)
HINGES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)


def bricard(*, length=1.0, mass=1.0, width=0.1, gravity=9.81):
    """IFToMM A04: Bricard's overconstrained loop of five rods and six hinges, gravity along -y.

    Counting says no mobility; the geometry leaves one. Rods of square section `width`, on a cube of side `length`.
    """
    along_moment = mass * width**2 / 6
    across_moment = mass * (length**2 + width**2) / 12
    corners = length * CORNERS
    bodies, pins = [], []
    for k in range(5):
        along = (corners[k + 1] - corners[k]) / length
        axes = rotation.axes(along, HINGES[k])  # long axis is the body's zeta
        bodies.append(
            SpatialBody(
                f"rod{k + 1}",
                mass,
                (across_moment, across_moment, along_moment),
                position=(corners[k] + corners[k + 1]) / 2,
                orientation=rotation.from_matrix(axes),
            )
        )
    names = ["ground", *(b.name for b in bodies), "ground"]
    for k in range(6):
        bearing, journal = names[k], names[k + 1]
        if journal == "ground":
            bearing, journal = journal, bearing
        pins.append(
            Connection(f"hinge{k + 1}", frame(corners[k], HINGES[k]), bearing=bearing, journal=journal,
                       realisation=Revolute())
        )  # fmt: skip
    return Mechanism("bricard", bodies, pins, elements=[Gravity((0.0, -gravity, 0.0))])
