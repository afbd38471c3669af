import numpy as np

from ..body import SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import frame
from ..joint import Revolute
from ..mechanism import Mechanism


def pendulum(*, length=1.0, mass=1.0, inertia=(1e-9, 1e-9, 1e-9), gravity=9.81, angle=-np.pi / 2):
    """A pendulum in the x-y plane with gravity along -y, hinged at the origin about z.

    `length` is from hinge to mass centre, `angle` from hanging down. The defaults are the IFToMM A01 point mass
    (m 1 kg, L 1 m, released from (-1, 0)); the inertia is that of a grain.
    """
    centre = length * np.array([np.sin(angle), -np.cos(angle), 0.0])
    return Mechanism(
        "pendulum",
        bodies=[SpatialBody("bob", mass, inertia, position=centre)],
        connections=[Connection("pin", frame((0, 0, 0), (0, 0, 1), (1, 0, 0)), journal="bob", realisation=Revolute())],
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
        connections.append(
            Connection(f"pin{k}", place, bearing=above, journal=f"link{k}", realisation=Revolute())
        )
        tip, above = tip + along * length, f"link{k}"
    return Mechanism("double_pendulum", bodies, connections, elements=[Gravity((0.0, -gravity, 0.0))])
