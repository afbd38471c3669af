import numpy as np

from ..body import SpatialBody
from ..connection import Connection
from ..contact.normal import SmoothRestitutionSpring
from ..contact.normal.elastic import Linear
from ..contact.stop import Stop
from ..element import Gravity
from ..frame import frame
from ..joint import Cylindrical, Revolute
from ..mechanism import Mechanism
from .dry import clipped_impact


def triple_pendulum(*, masses=(0.10, 0.04, 0.02), gravity=9.81, stops=None, restitution=None):
    """P1 section 3.2: three bodies along x at rest, gravity along -z.

    `stops` None is the pendulum without stops. With stops the sliding of `C2` ends at +-0.25 m and the turning of `R3`
    at +-45 degrees: `impact` is Lankarani-Nikravesh (`restitution` .75), `kelvin_voigt` P1's Eq 54 (`restitution` .01
    and v0 .1 m/s, .1 rad/s; 0 for figure 18), both with 1e5 N/m (N/m^1.5) and 1e3 N m/rad (N m/rad^1.5).

    Revolute `R1` at the origin about y, cylindrical `C2` at (.6, 0, 0) along body 1's z, revolute `R3` at (1.2, 0, 0)
    along (0, sin 45, cos 45) of body 2. Body 3's axes are turned by -45 degrees about x (P1 table 3); inertias as
    printed.
    """
    half = np.pi / 8
    inertias = ((3e-3, 3e-2, 3e-2), (1.2e-3, 1.2e-2, 1.2e-2), (0.6e-3, 0.6e-2, 0.6e-2))
    return Mechanism(
        "triple_pendulum",
        bodies=[
            SpatialBody("body1", masses[0], inertias[0], position=(0.3, 0, 0)),
            SpatialBody("body2", masses[1], inertias[1], position=(0.9, 0, 0)),
            SpatialBody(
                "body3",
                masses[2],
                inertias[2],
                position=(1.5, 0, 0),
                orientation=(np.cos(half), -np.sin(half), 0.0, 0.0),
            ),
        ],
        connections=[
            Connection("R1", frame((0, 0, 0), (0, 1, 0), (1, 0, 0)), journal="body1", realisation=Revolute()),
            Connection(
                "C2", frame((0.6, 0, 0), (0, 0, 1), (1, 0, 0)), bearing="body1", journal="body2",
                realisation=Cylindrical(), stops=_stops("axial", 0.25, 1e5, stops, restitution),
            ),
            Connection(
                "R3", frame((1.2, 0, 0), (0, np.sqrt(0.5), np.sqrt(0.5)), (1, 0, 0)), bearing="body2", journal="body3",
                realisation=Revolute(), stops=_stops("spin", np.pi / 4, 1e3, stops, restitution),
            ),
        ],
        elements=[Gravity((0.0, 0.0, -gravity))],
    )  # fmt: skip


def _stops(coordinate, limit, stiffness, kind, restitution):
    if kind is None:
        return ()
    if kind == "impact":
        law = clipped_impact(stiffness, 0.75 if restitution is None else restitution)
    elif kind == "kelvin_voigt":
        law = SmoothRestitutionSpring(Linear(stiffness), 0.01 if restitution is None else restitution, 0.1)
    else:
        raise ValueError(f"triple_pendulum: stops {kind!r}; choose `impact`, `kelvin_voigt` or None.")
    return (Stop(coordinate, law, -limit, limit),)
