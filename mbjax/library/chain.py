import numpy as np

from ..body import SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import frame
from ..joint import Revolute
from ..mechanism import Mechanism


def chain(n=16, *, length=0.1, mass=0.1, gravity=9.81):
    """n equal rods hanging on each other from the origin, hinges turning in turn about y and z, released level (+x)."""
    across = mass * length**2 / 12
    bodies = [
        SpatialBody(f"link{k}", mass, (0.05 * across, across, across), position=((k - 0.5) * length, 0.0, 0.0))
        for k in range(1, n + 1)
    ]
    axes = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    pins = [
        Connection(
            f"pin{k}",
            frame(((k - 1) * length, 0.0, 0.0), axes[(k - 1) % 2], (1, 0, 0)),
            bearing=f"link{k - 1}" if k > 1 else "ground",
            journal=f"link{k}",
            realisation=Revolute(),
        )
        for k in range(1, n + 1)
    ]
    return Mechanism(f"chain_{n}", bodies, pins, elements=[Gravity((0.0, 0.0, -gravity))])
