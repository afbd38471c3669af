import numpy as np

from ..body import PlanarBody
from ..connection import Connection
from ..element import JointForce, SpringDamper
from ..element.characteristic import Linear
from ..frame import frame
from ..joint import Revolute
from ..mechanism import Mechanism
from ..signal import Constant

A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
D, DA, E, EA = 28e-3, 115e-4, 2e-2, 1421e-5
RR, RA, SS, SA, SB, SC, SD = 7e-3, 92e-5, 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2
TA, TB, U, UA, UB, ZF, ZT, FA = 2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885,
    0.487364979543842550, -0.222668390165885885, 1.23054744454982119,
)  # fmt: skip


def andrews_squeezer(*, torque=0.033, stiffness=4530.0, free_length=0.07785):
    """Andrews' squeezing mechanism (IVP test set): seven planar bodies, a spring, a constant motor torque.

    Bodies K1..K7; the angles of the test set are beta = K1.angle, Theta = K2.angle - K1.angle, gamma = K3.angle,
    delta = K5.angle, Phi = K4.angle - delta, epsilon = K7.angle, Omega = K6.angle - epsilon.
    """
    beta, theta, gamma, phi, delta, omega, epsilon = START
    angles = np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])

    def at(angle, x, y):
        c, s = np.cos(angle), np.sin(angle)
        return np.array([c * x - s * y, s * x + c * y])

    a1, a2, a3, a4, a5, a6, a7 = angles
    p1 = at(a1, RR, 0)
    p4, p6 = A + at(a5, ZT, 0), A + at(a7, 0, -U)
    centres = [
        at(a1, RA, 0),
        p1 + at(a2, -DA, 0),
        B + at(a3, SB, -SA),
        p4 + at(a4, 0, -(E - EA)),
        A + at(a5, TA, TB),
        p6 + at(a6, ZF - FA, 0),
        A + at(a7, -UB, -UA),
    ]
    bodies = [
        PlanarBody(f"K{k + 1}", m, i, position=c, angle=a)
        for k, (m, i, c, a) in enumerate(zip(MASSES, INERTIAS, centres, angles, strict=True))
    ]
    common = p1 + at(a2, -D, 0)
    pins = [
        ("O", (0.0, 0.0), "ground", "K1"),
        ("K1_K2", p1, "K1", "K2"),
        ("K2_K3", common, "K2", "K3"),
        ("K2_K4", common, "K2", "K4"),
        ("K2_K6", common, "K2", "K6"),
        ("B", B, "ground", "K3"),
        ("A5", A, "ground", "K5"),
        ("A7", A, "ground", "K7"),
        ("K5_K4", p4, "K5", "K4"),
        ("K7_K6", p6, "K7", "K6"),
    ]
    hook = at(-a3, *(B + at(a3, SD, -SC) - centres[2]))
    return Mechanism(
        "andrews_squeezer",
        bodies,
        [
            Connection(
                name, frame((*point, 0), (0, 0, 1), (1, 0, 0)), bearing=bearing, journal=journal, realisation=Revolute()
            )
            for name, point, bearing, journal in pins
        ],
        elements=[
            JointForce("motor", "O", "spin", Constant(torque)),
            SpringDamper(
                "spring", "ground", "K3", Linear(stiffness, rest=free_length), point_1=(*C, 0), point_2=(*hook, 0)
            ),
        ],
    )
