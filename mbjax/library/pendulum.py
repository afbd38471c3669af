import numpy as np

from ..body import PlanarBody, SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import Frame, Placement, frame
from ..joint import MasslessLink, Revolute
from ..mechanism import Mechanism


def pendulum(*, length=1.0, mass=1.0, inertia=None, gravity=9.81, angle=-np.pi / 2):
    """A pendulum in the x-y plane with gravity along -y, hung at the origin; `angle` from hanging down.

    With the defaults the point mass of IFToMM A01 (m 1 kg, L 1 m, released from (-1, 0)): body `bob` on a massless
    link, whose own rotation is free and never matters. With `inertia` (three principal moments, kg m^2) a compound
    pendulum: a rigid body hinged about z at `length` from its mass centre.
    """
    centre = length * np.array([np.sin(angle), -np.cos(angle), 0.0])
    place = frame((0, 0, 0), (0, 0, 1), (1, 0, 0))
    if inertia is None:
        body = PlanarBody("bob", mass, 0.1 * mass * length**2, position=centre[:2])
        place = Frame(place.bearing, Placement(centre, (0, 0, 1), (1, 0, 0)))
        realisation = MasslessLink(length)
    else:
        body = SpatialBody("bob", mass, inertia, position=centre)
        realisation = Revolute()
    return Mechanism(
        "pendulum",
        bodies=[body],
        connections=[Connection("pin", place, journal="bob", realisation=realisation)],
        elements=[Gravity((0.0, -gravity, 0.0))],
    )


def double_pendulum(*, lengths=(0.2, 0.3), masses=(0.64, 0.56), gravity=9.81, angles=(np.pi / 2, np.pi / 2)):
    """Two slender rods hinged about z in the x-y plane, gravity along -y; `angles` from hanging down, both absolute."""
    tip = np.zeros(3)
    bodies, connections, above = [], [], "ground"
    for k, (length, mass, angle) in enumerate(zip(lengths, masses, angles, strict=True), start=1):
        along = np.array([np.sin(angle), -np.cos(angle), 0.0])
        turn = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
        across = mass * length**2 / 12
        inertia = (across, 1e-3 * across, across)
        bodies.append(SpatialBody(f"link{k}", mass, inertia, position=tip + along * length / 2, orientation=turn))
        place = frame(tip, (0, 0, 1), (1, 0, 0))
        connections.append(Connection(f"pin{k}", place, bearing=above, journal=f"link{k}", realisation=Revolute()))
        tip, above = tip + along * length, f"link{k}"
    return Mechanism("double_pendulum", bodies, connections, elements=[Gravity((0.0, -gravity, 0.0))])
