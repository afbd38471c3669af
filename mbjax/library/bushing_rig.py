from ..body import SpatialBody
from ..bushing import Bushing
from ..connection import Connection, Driver
from ..frame import frame
from ..joint import Translation
from ..mechanism import Mechanism
from ..signal import Harmonic


def bushing_rig(bushing=None, *, amplitude=1e-3, frequency=10.0, mass=1.0):
    """A bushing on a test rig: a carriage on a slide `guide` along x, driven harmonically; bushing `mount` to ground
    along the same axis (its deflection b). The driver's force is channel `shaker.force`.

    For dynamic stiffness and loss angle over many frequencies and amplitudes take `mb.bushing_rig`, which needs no
    mechanism.
    """
    bushing = (
        Bushing([8e5, 8e5, 2e5, 40.0, 40.0, 5.0], damping=[50.0, 50.0, 20.0, 0, 0, 0]) if bushing is None else bushing
    )
    inertia = 1e-3 * mass
    return Mechanism(
        "bushing_rig",
        bodies=[SpatialBody("carriage", mass, (inertia, inertia, inertia))],
        connections=[
            Connection("guide", frame((0, 0, 0), (1, 0, 0), (0, 1, 0)), journal="carriage", realisation=Translation()),
            Connection("mount", frame((0, 0, 0), (1, 0, 0), (0, 1, 0)), journal="carriage", realisation=bushing),
        ],
        drivers=[Driver("shaker", "guide", "axial", Harmonic(amplitude, frequency))],
    )
