import numpy as np

from ..body import PlanarBody
from ..connection import Connection, Driver
from ..frame import frame
from ..joint import Revolute, Translation
from ..mechanism import Mechanism, Start
from ..signal import ConstantSpeed


def planar_slider_crank(
    *,
    crank_length=0.05,
    rod_length=0.12,
    crank_mass=0.30,
    rod_mass=0.21,
    slider_mass=0.14,
    crank_inertia=1e-5,
    rod_inertia=25e-5,
    slider_inertia=1e-4,
    speed=-5000 * 2 * np.pi / 60,
):
    """P2's slider-crank with ideal joints: crank driven at 5000 rpm clockwise from top dead centre, no gravity.

    Pins `O` (ground-crank), `A` (crank-rod), `B` (rod-slider), slide `D` along x; the crank's torque is the reaction
    of driver `motor`. Mass centres are mid-length, the slider's is at its pin (its inertia never matters).
    """
    reach = crank_length + rod_length
    axis, reference = (0, 0, 1), (1, 0, 0)
    return Mechanism(
        "planar_slider_crank",
        bodies=[
            PlanarBody("crank", crank_mass, crank_inertia, position=(crank_length / 2, 0.0)),
            PlanarBody("rod", rod_mass, rod_inertia, position=(crank_length + rod_length / 2, 0.0)),
            PlanarBody("slider", slider_mass, slider_inertia, position=(reach, 0.0)),
        ],
        connections=[
            Connection("O", frame((0, 0, 0), axis, reference), journal="crank", realisation=Revolute()),
            Connection(
                "A",
                frame((crank_length, 0, 0), axis, reference),
                bearing="crank",
                journal="rod",
                realisation=Revolute(),
            ),
            Connection(
                "B", frame((reach, 0, 0), axis, reference), bearing="rod", journal="slider", realisation=Revolute()
            ),
            Connection("D", frame((reach, 0, 0), (1, 0, 0), (0, 1, 0)), journal="slider", realisation=Translation()),
        ],
        drivers=[Driver("motor", "O", "spin", ConstantSpeed(speed))],
        start=Start(positions={"O.spin": 0.0}),
    )
