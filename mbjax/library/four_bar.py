import numpy as np

from .. import rotation
from ..body import SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import frame
from ..joint import Revolute, Spherical
from ..mechanism import Mechanism

CRANK_PIN = np.array([0.0, 0.0, 0.02])
ROCKER_PIVOT = np.array([-0.04, -0.085, 0.0])
JOINT = np.array([-0.0749, -0.085, 0.0652])
# P3 table 1 prints e2 = 0.6747 for the coupler (norm 1.2045); 0.0675 closes the loop.
COUPLER_TURN = np.array([0.9186, -0.1764, 0.0675, -0.3472])
ROCKER_TURN = np.array([0.3634, -0.6068, -0.6068, 0.3634])


def _rod_turn(printed, along):
    """The printed orientation, turned so that the body's eta axis lies exactly along the rod."""
    axes = rotation.matrix(printed)
    eta = along / np.linalg.norm(along)
    if eta @ axes[:, 1] < 0:
        eta = -eta
    xi = axes[:, 0] - (axes[:, 0] @ eta) * eta
    xi /= np.linalg.norm(xi)
    return rotation.from_matrix(np.stack([xi, eta, np.cross(xi, eta)], axis=1))


def four_bar(*, masses=(0.0196, 0.1416, 0.0316), gravity=9.81):
    """P3's spatial four-bar with ideal joints, released from rest: crank (axis x), coupler, rocker (axis y).

    Connections `crank_pivot`, `crank_pin` (spherical), `joint` (spherical; the one that P3 gives clearance),
    `rocker_pivot`. Inertias as printed in table 2; the coupler may spin about its own line, so there are two degrees
    of freedom.
    """
    inertias = (
        (3.92e-5, 1.97e-5, 1.97e-5),
        (1.7743e-3, 3.51e-5, 1.7743e-3),
        (1.456e-4, 2.9e-6, 1.456e-4),
    )
    return Mechanism(
        "four_bar",
        bodies=[
            SpatialBody("crank", masses[0], inertias[0]),
            SpatialBody(
                "coupler",
                masses[1],
                inertias[1],
                position=(CRANK_PIN + JOINT) / 2,
                orientation=_rod_turn(COUPLER_TURN, JOINT - CRANK_PIN),
            ),
            SpatialBody(
                "rocker",
                masses[2],
                inertias[2],
                position=(ROCKER_PIVOT + JOINT) / 2,
                orientation=_rod_turn(ROCKER_TURN, JOINT - ROCKER_PIVOT),
            ),
        ],
        connections=[
            Connection("crank_pivot", frame((0, 0, 0), (1, 0, 0), (0, 0, 1)), journal="crank", realisation=Revolute()),
            Connection(
                "crank_pin", frame(CRANK_PIN, (1, 0, 0)), bearing="crank", journal="coupler", realisation=Spherical()
            ),
            Connection("joint", frame(JOINT, (0, 1, 0)), bearing="coupler", journal="rocker", realisation=Spherical()),
            Connection(
                "rocker_pivot", frame(ROCKER_PIVOT, (0, 1, 0), (0, 0, 1)), journal="rocker", realisation=Revolute()
            ),
        ],
        elements=[Gravity((0.0, 0.0, -gravity))],
    )
