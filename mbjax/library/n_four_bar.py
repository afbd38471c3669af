import numpy as np

from ..body import PlanarBody, SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import frame
from ..joint import Revolute
from ..mechanism import Mechanism, Start


def n_four_bar(n=2, *, length=1.0, mass=1.0, gravity=9.81, speed=1.0, spatial=False):
    """IFToMM A02: n square windows of uniform links in the x-y plane, gravity along -y, passing a singular flat pose.

    Vertical links `crank0..n` on ground pins `A0..n`, couplers `coupler1..n` between the tops. Starts upright with the
    tops moving at `speed` (m/s) along +x. Planar bodies, or spatial ones (then redundant rows are removed).
    """
    across = mass * length**2 / 12

    def body(name, centre, angle):
        if spatial:
            turn = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
            return SpatialBody(name, mass, (1e-2 * across, across, across), position=(*centre, 0.0), orientation=turn)
        return PlanarBody(name, mass, across, position=centre, angle=angle)

    def pin(name, x, y, bearing, journal):
        return Connection(
            name, frame((x, y, 0), (0, 0, 1), (1, 0, 0)), bearing=bearing, journal=journal, realisation=Revolute()
        )

    bodies = [body(f"crank{k}", (k * length, length / 2), np.pi / 2) for k in range(n + 1)]
    bodies += [body(f"coupler{k}", ((k - 0.5) * length, length), 0.0) for k in range(1, n + 1)]
    pins = [pin("A0", 0.0, 0.0, "ground", "crank0")]
    for k in range(1, n + 1):
        pins.append(pin(f"B{k - 1}_right", (k - 1) * length, length, f"crank{k - 1}", f"coupler{k}"))
        pins.append(pin(f"B{k}_left", k * length, length, f"crank{k}", f"coupler{k}"))
        pins.append(pin(f"A{k}", k * length, 0.0, "ground", f"crank{k}"))
    return Mechanism(
        f"n_four_bar_{n}",
        bodies,
        pins,
        elements=[Gravity((0.0, -gravity, 0.0))],
        start=Start(speeds={"A0.spin": -speed / length}),
    )
