import numpy as np

from .. import rotation
from ..body import SpatialBody
from ..connection import Connection
from ..element import Gravity
from ..frame import frame
from ..joint import Revolute, Spherical, Translation, Universal
from ..mechanism import Mechanism, Start

CRANK_PIVOT = np.array([0.0, 0.1, 0.12])


def slider_crank_3d(
    *,
    variant="z",
    crank_length=0.08,
    rod_length=0.3,
    crank_mass=0.12,
    rod_mass=0.5,
    block_mass=2.0,
    crank_inertia=(1e-4, 1e-4, 1e-5),
    rod_inertia=(4e-4, 4e-3, 4e-3),
    block_inertia=(1e-4, 1e-4, 1e-4),
    gravity=9.81,
    crank_speed=6.0,
):
    """P1 section 3.1 (and Masoudi et al. 2013): crank in the y-z plane, block on the x axis, ideal joints.

    Revolute `A` (axis x), spherical `B`, universal `C`, translation `D`. The cross axes of `C` decide the rod's spin:
    variant `z` puts z on the block and (1, 2, 0)/sqrt5 on the rod at t0 and reproduces P1's table 2 (global rod spin
    (0, 0, 2.4) rad/s); variant `x` puts x on the block and the rod's own eta axis on the rod (the IFToMM model).
    Crank long axis zeta, rod long axis xi; starts with the crank along +z at `crank_speed` (rad/s about +x).
    """
    if variant not in ("z", "x"):
        raise ValueError(f"slider_crank_3d: variant {variant!r}; choose `z` (P1) or `x` (IFToMM).")
    b = CRANK_PIVOT + np.array([0.0, 0.0, crank_length])
    reach = rod_length**2 - b[1] ** 2 - b[2] ** 2
    if not reach > 0:
        raise ValueError(f"slider_crank_3d: a rod of {rod_length} m does not reach the slide axis from B = {b}.")
    c = np.array([b[0] + np.sqrt(reach), 0.0, 0.0])
    along = (c - b) / rod_length
    # P1's table 2 has the rod's eta axis normal to x.
    eta = np.cross([1.0, 0.0, 0.0], along)
    eta /= np.linalg.norm(eta)
    rod_axes = np.stack([along, eta, np.cross(along, eta)], axis=1)
    if variant == "z":
        block_cross, rod_cross = (0.0, 0.0, 1.0), np.cross([0.0, 0.0, 1.0], along)
    else:
        block_cross, rod_cross = (1.0, 0.0, 0.0), eta
    crank_turn = np.array([crank_speed, 0.0, 0.0])
    pin_speed, rod_turn, slider_speed = _speeds(crank_turn, b, c, block_cross, rod_cross)
    return Mechanism(
        "slider_crank_3d",
        bodies=[
            SpatialBody(
                "crank",
                crank_mass,
                crank_inertia,
                position=(CRANK_PIVOT + b) / 2,
                velocity=pin_speed / 2,
                angular_velocity=crank_turn,
            ),
            SpatialBody(
                "rod",
                rod_mass,
                rod_inertia,
                position=(b + c) / 2,
                orientation=np.asarray(rotation.from_matrix(rod_axes)),
                velocity=(pin_speed + slider_speed) / 2,
                angular_velocity=rod_turn,
            ),
            SpatialBody("slider", block_mass, block_inertia, position=c, velocity=slider_speed),
        ],
        connections=[
            Connection("A", frame(CRANK_PIVOT, (1, 0, 0), (0, 0, 1)), journal="crank", realisation=Revolute()),
            Connection("B", frame(b, along, eta), bearing="crank", journal="rod", realisation=Spherical()),
            Connection(
                "C",
                frame(c, (0, 0, 1), (1, 0, 0)),
                bearing="slider",
                journal="rod",
                realisation=Universal(block_cross, rod_cross / np.linalg.norm(rod_cross)),
            ),
            Connection("D", frame(c, (1, 0, 0), (0, 0, 1)), journal="slider", realisation=Translation()),
        ],
        elements=[Gravity((0.0, 0.0, -gravity))],
        start=Start(positions={"A.spin": 0.0}, speeds={"A.spin": crank_speed}),
    )


def _speeds(crank_turn, b, c, block_cross, rod_cross):
    """Velocities of the ideal mechanism: those of pin B and the slider, and the rod's angular velocity."""
    pin = np.cross(crank_turn, b - CRANK_PIVOT)
    rod = c - b
    slider = np.array([rod @ pin / rod[0], 0.0, 0.0])
    # The rod carries B to C, and its cross axis stays at right angles to the block's.
    rows = np.vstack([np.cross(np.eye(3), rod), np.cross(rod_cross, block_cross)])
    return pin, np.linalg.lstsq(rows, np.append(pin - slider, 0.0), rcond=None)[0], slider
