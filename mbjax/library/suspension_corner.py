import numpy as np

from ..body import SpatialBody
from ..bushing import Bushing
from ..connection import Connection
from ..element import AppliedForce, SpringDamper
from ..element.characteristic import Linear
from ..frame import frame
from ..joint import Spherical
from ..mechanism import Mechanism
from ..signal import Constant

# m, from the middle of the axle: x forward, y outboard, z up.
_POINTS = {
    "lower_front": (0.16, 0.35, 0.20), "lower_rear": (-0.18, 0.35, 0.20), "lower_ball": (0.0, 0.70, 0.18),
    "upper_front": (0.10, 0.42, 0.46), "upper_rear": (-0.14, 0.42, 0.45), "upper_ball": (-0.01, 0.66, 0.50),
    "toe_inner": (-0.20, 0.40, 0.25), "toe_outer": (-0.15, 0.69, 0.26),
}  # fmt: skip
_WHEEL, _STRUT = (0.0, 0.75, 0.31), ((0.0, 0.55, 0.19), (0.02, 0.46, 0.62))
BUSHINGS = ("lower_front", "lower_rear", "upper_front", "upper_rear", "toe_inner", "toe_outer")


def suspension_corner(*, radial=4e6, axial=8e5, twist=60.0, cone=400.0, damping_time=2e-4, spring=7e4, load=None):
    """A double wishbone with a toe link, hung in six bushings on a chassis that stands still; no gravity.

    Body `upright` has its mass centre at the wheel's; lower and upper arm turn in two bushings each and hold the
    upright by ball joints; the toe link has a bushing at either end. The bushings are `lower_front`, `lower_rear`,
    `upper_front`, `upper_rear`, `toe_inner`, `toe_outer`; their axes (b) lie along the arms' inner axes, those of the
    toe link are upright. `radial`, `axial` (N/m), `twist`, `cone` (N m/rad) are the same in all; damping is stiffness
    times `damping_time` (s). `load` is an element such as `AppliedForce` on `upright` (default: none). The strut's
    spring is relaxed at the start, so the corner starts at rest.
    """
    p = {name: np.array(point) for name, point in _POINTS.items()}
    stiffness = np.array([radial, radial, axial, cone, cone, twist])

    def bushing(name, bearing, journal, axis):
        realisation = Bushing(stiffness, damping_time * stiffness)
        return Connection(name, frame(p[name], axis), bearing=bearing, journal=journal, realisation=realisation)

    def ball(name, journal):
        place = frame(p[name], (0, 0, 1))
        return Connection(name, place, bearing="upright", journal=journal, realisation=Spherical())

    lower, upper = (p[f"{arm}_front"] - p[f"{arm}_rear"] for arm in ("lower", "upper"))
    arms = {name: (p[f"{name}_front"] + p[f"{name}_rear"] + p[f"{name}_ball"]) / 3 for name in ("lower", "upper")}
    foot, top = (np.array(x) for x in _STRUT)
    mechanism = Mechanism(
        "suspension_corner",
        bodies=[
            SpatialBody("upright", 28.0, (0.55, 0.9, 0.6), position=_WHEEL),
            SpatialBody("lower_arm", 4.5, (0.06, 0.04, 0.095), position=arms["lower"]),
            SpatialBody("upper_arm", 2.2, (0.018, 0.014, 0.03), position=arms["upper"]),
            SpatialBody("toe_link", 0.9, (0.007, 4e-4, 0.007), position=(p["toe_inner"] + p["toe_outer"]) / 2),
        ],
        connections=[
            bushing("lower_front", "ground", "lower_arm", lower),
            bushing("lower_rear", "ground", "lower_arm", lower),
            bushing("upper_front", "ground", "upper_arm", upper),
            bushing("upper_rear", "ground", "upper_arm", upper),
            bushing("toe_inner", "ground", "toe_link", (0, 0, 1)),
            bushing("toe_outer", "toe_link", "upright", (0, 0, 1)),
            ball("lower_ball", "lower_arm"),
            ball("upper_ball", "upper_arm"),
        ],
        elements=[
            SpringDamper(
                "strut", "lower_arm", "ground", Linear(spring, 0.03 * spring, rest=np.linalg.norm(top - foot)),
                point_1=foot - arms["lower"], point_2=top,
            ),
        ],
    )  # fmt: skip
    load = AppliedForce("load", "upright", Constant(0.0), direction=(0, 0, 1)) if load is None else load
    return mechanism.add(load)
