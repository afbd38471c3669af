import numpy as np

from .. import rotation
from ..body import SpatialBody
from ..connection import Connection
from ..element import Gravity, SpringDamper
from ..element.characteristic import Linear
from ..frame import frame
from ..joint import Revolute, Translation
from ..mechanism import Mechanism, Start
from ..shape import box


def flyball_governor(
    *, stiffness=8e5, damping=4e4, free_length=0.5, density=3000.0, ball_mass=5.0, angle=np.pi / 6, speed=2 * np.pi
):
    """IFToMM A05, stiff flyball governor: shaft about y, two arms with balls, slider; couplers are spring-dampers.

    The shaft (1 m) turns about y on the ground; arms of 1 m hang on its top at `angle` from the shaft and carry point
    masses at their ends; a slider on the shaft is held by spring-dampers to the arms' middle points. Gravity -y.
    Starts with the shaft at `speed` (rad/s); the slider starts where the couplers have their free length.
    """
    thin, long = 0.01, 1.0
    solid = box(thin, long, thin, density=density)
    total = solid["mass"] + ball_mass
    shift = ball_mass * long / 2 / total
    moments = np.array(solid["inertia"])
    moments += np.array([1.0, 0.0, 1.0]) * (solid["mass"] * shift**2 + ball_mass * (long / 2 - shift) ** 2)
    top = np.array([0.0, long, 0.0])
    bodies = [
        SpatialBody("shaft", **box(thin, long, thin, density=density), position=(0, long / 2, 0)),
    ]
    connections = [
        Connection("bearing", frame((0, 0, 0), (0, 1, 0), (1, 0, 0)), journal="shaft", realisation=Revolute())
    ]
    couplers = []
    middle = long / 2
    height = long - middle * np.cos(angle) - np.sqrt(free_length**2 - (middle * np.sin(angle)) ** 2)
    bodies.append(SpatialBody("slider", **box(0.1, 0.1, 0.1, density=density), position=(0, height, 0)))
    connections.append(
        Connection(
            "slide", frame((0, height, 0), (0, 1, 0), (1, 0, 0)), bearing="shaft", journal="slider",
            realisation=Translation(),
        )
    )  # fmt: skip
    for name, side in (("left", -1.0), ("right", 1.0)):
        along = np.array([side * np.sin(angle), -np.cos(angle), 0.0])  # from the top down the arm
        axes = np.stack([np.cross(-along, [0.0, 0.0, 1.0]), -along, [0.0, 0.0, 1.0]], axis=1)
        bodies.append(
            SpatialBody(
                f"arm_{name}",
                total,
                moments,
                position=top + along * (long / 2 + shift),
                orientation=rotation.from_matrix(axes),
            )
        )
        connections.append(
            Connection(
                f"hinge_{name}", frame(top, (0, 0, 1), (1, 0, 0)), bearing="shaft", journal=f"arm_{name}",
                realisation=Revolute(),
            )
        )  # fmt: skip
        couplers.append(
            SpringDamper(
                f"coupler_{name}", "slider", f"arm_{name}", Linear(stiffness, damping, free_length),
                point_2=(0.0, long / 2 + shift - middle, 0.0),
            )
        )  # fmt: skip
    return Mechanism(
        "flyball_governor",
        bodies,
        connections,
        elements=[Gravity((0.0, -9.81, 0.0)), *couplers],
        start=Start(speeds={"bearing.spin": speed}),
    )
