from ..body import SpatialBody
from ..connection import Connection
from ..contact import Clearance
from ..contact.interface import Dry
from ..contact.normal import Impact
from ..contact.normal.elastic import Hertz
from ..contact.normal.hysteresis import LankaraniNikravesh
from ..contact.pair import BallOnPlane
from ..element import Gravity
from ..frame import frame_on_bodies
from ..mechanism import Mechanism


def bouncing_ball(*, mass=1.0, radius=0.05, height=0.1, speed=0.0, gravity=9.81, interface=None):
    """A ball above a plane z = 0, `height` between them, thrown down with `speed`; connection `wall`.

    `interface` is what lies between the two (default: dry, Hertz 1e8 N/m^1.5, Lankarani-Nikravesh with e 0.8).
    """
    interface = Dry(Impact(Hertz(1e8), LankaraniNikravesh(0.8))) if interface is None else interface
    inertia = 0.4 * mass * radius**2
    return Mechanism(
        "bouncing_ball",
        bodies=[
            SpatialBody(
                "ball", mass, (inertia, inertia, inertia), position=(0, 0, radius + height), velocity=(0, 0, -speed)
            )
        ],
        connections=[
            Connection(
                "wall",
                frame_on_bodies((0, 0, 0), (0, 0, 0), bearing_reference=(1, 0, 0), journal_reference=(1, 0, 0)),
                journal="ball",
                realisation=Clearance(BallOnPlane(radius), interface),
            )
        ],
        elements=[Gravity((0.0, 0.0, -gravity))],
    )
