from ..body import PlanarBody
from ..connection import Connection
from ..contact import Clearance
from ..contact.film import ShortFilm
from ..contact.interface import Lubricated
from ..contact.pair import CircleInCircle
from ..element import AppliedForce
from ..frame import frame
from ..mechanism import Mechanism
from ..signal import Constant


def journal_bearing(
    *,
    mass=1.0,
    inertia=1e-3,
    radius=0.025,
    clearance=50e-6,
    length=0.02,
    viscosity=0.02,
    speed=300.0,
    load=200.0,
    interface=None,
):
    """A rotor in one bearing that stands still, under a constant load along -y (no gravity); connection `bearing`.

    `interface` defaults to a short film (Ocvirk, half film). The rotor starts in the middle, turning at `speed`
    (rad/s); nothing brakes it, since the film law has no friction torque.
    """
    interface = Lubricated(ShortFilm(viscosity, length)) if interface is None else interface
    return Mechanism(
        "journal_bearing",
        bodies=[PlanarBody("rotor", mass, inertia, angular_velocity=speed)],
        connections=[
            Connection(
                "bearing", frame((0, 0, 0), (0, 0, 1), (1, 0, 0)), journal="rotor",
                realisation=Clearance(CircleInCircle(radius, clearance), interface),
            )
        ],
        elements=[AppliedForce("load", "rotor", Constant(load), direction=(0, -1, 0))],
    )  # fmt: skip
