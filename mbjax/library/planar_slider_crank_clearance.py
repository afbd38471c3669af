import numpy as np

from ..contact import Clearance
from ..contact.pair import CircleInCircle
from ..material import hertz_stiffness
from .dry import dry, raw_impact
from .planar_slider_crank import planar_slider_crank


def planar_slider_crank_clearance(
    *, clearance=0.5e-3, radius=0.01, stiffness=None, restitution=0.9, friction=None, interface=None, **ideal
):
    """P2's slider-crank with clearance in pin `B` (bearing on the rod, journal on the slider), 5000 rpm.

    Starts concentric at top dead centre with zero relative velocity. Dry with Lankarani-Nikravesh by default;
    `stiffness` None is Hertz for steel and these radii (6.610e10 N/m^1.5). `interface` replaces the contact as a whole
    (films). P2's friction: `mb.Ambrosio(0.03, 1e-4, 1e-3)`. Further arguments go to `planar_slider_crank`.
    """
    mechanism = planar_slider_crank(**ideal)
    if interface is None:
        stiffness = hertz_stiffness(radius - clearance, -radius) if stiffness is None else stiffness
        interface = dry(raw_impact(stiffness, restitution), friction)
    mechanism = mechanism.replace("B", Clearance(CircleInCircle(radius, clearance), interface))
    # At top dead centre the slider stands still and the rod turns about its pin.
    speed = np.asarray(mechanism["motor"].signal.speed)
    crank_centre = np.asarray(mechanism["crank"].position)
    rod_centre = np.asarray(mechanism["rod"].position)
    slider = np.asarray(mechanism["slider"].position)
    pin = 2 * crank_centre[0]
    rod_speed = -speed * pin / (slider[0] - pin)
    return mechanism.with_values(
        {
            "crank.velocity": np.array([0.0, speed * crank_centre[0]]),
            "crank.angular_velocity": speed,
            "rod.velocity": np.array([0.0, rod_speed * (rod_centre[0] - slider[0])]),
            "rod.angular_velocity": rod_speed,
        }
    ).renamed("planar_slider_crank_clearance")
