from ..contact import Clearance
from ..contact.pair import BallInSocket, CylinderInCylinder
from ..contact.stop import Stop
from .dry import clipped_impact, dry
from .slider_crank_3d import slider_crank_3d

_LEAST_PLAY = 1e-6  # m, axial


def slider_crank_3d_spherical_clearance(
    *, clearance=1e-3, radius=0.01, stiffness=5e6, exponent=1.5, restitution=0.75, interface=None, **ideal
):
    """P1's slider-crank with spherical clearance at `B`, forces at the two centres; clearance 0 is a legal case.

    K 5e6 is taken in N/m^1.5; if P1 meant N/mm^1.5, give `stiffness=5e6 * 1000**1.5` (1.58e11). Starts from the ideal
    kinematics. Further arguments go to `slider_crank_3d`.
    """
    mechanism = slider_crank_3d(**ideal)
    interface = dry(clipped_impact(stiffness, restitution, exponent)) if interface is None else interface
    return mechanism.replace("B", Clearance(BallInSocket(radius, clearance, at_centres=True), interface)).renamed(
        "slider_crank_3d_spherical_clearance"
    )


def slider_crank_3d_revolute_clearance(
    *,
    clearance=1e-3,
    radius=0.01,
    length=0.02,
    strips=4,
    stiffness=5e6,
    exponent=1.5,
    restitution=0.75,
    interface=None,
    **ideal,
):
    """P1's slider-crank with a revolute clearance at `A`: a cylinder in strips (each with stiffness / strips) between
    ground (bearing) and crank (journal), and axial stops at the same clearance (1 um where that is less, so
    that something holds the crank at clearance 0).

    A long bearing is `length=0.08`. Starts from the ideal kinematics. Further arguments go to `slider_crank_3d`.
    """
    mechanism = slider_crank_3d(**ideal)
    if interface is None:
        interface = dry(clipped_impact(stiffness / strips, restitution, exponent))
    pair = CylinderInCylinder(radius, clearance, length, strips=strips)
    mechanism = mechanism.replace("A", Clearance(pair, interface))
    play = max(clearance, _LEAST_PLAY)
    stop = Stop("axial", clipped_impact(stiffness, restitution, exponent), -play, play)
    mechanism = mechanism.with_stops("A", [stop])
    return mechanism.renamed("slider_crank_3d_revolute_clearance")
