import numpy as np

from ..connection import Connection
from ..contact import Clearance
from ..contact.normal import Impact
from ..contact.normal.elastic import Hertz
from ..contact.normal.hysteresis import LankaraniNikravesh
from ..contact.normal.policy import Cut, Raw
from ..contact.pair import JournalInBearing
from ..frame import Frame
from .dry import dry
from .marques_slider_crank import marques_slider_crank


def marques_slider_crank_clearance(
    *,
    axial_clearance=0.5e-3,
    clearance=0.5e-3,
    radius=0.01,
    length=0.02,
    stiffness=6.71e10,
    restitution=0.9,
    friction=None,
    interface=None,
    **ideal,
):
    """P4 and P5's slider-crank: bearing on the crank, journal on the ground, radial and axial clearance at `A`.

    P4 lists an axial clearance of 0.05 mm (journal 19.9 mm), P5 0.5 mm (19 mm). Four contact points, each with the
    full stiffness. P5's friction: `mb.Coulomb(0.1)`, `mb.Stribeck(0.1, 0.2)`, `mb.Dahl(0.1)`, `mb.LuGre(0.1, 0.2)`.
    Starts concentric from the ideal kinematics.
    """
    mechanism = marques_slider_crank(**ideal)
    if interface is None:
        law = Impact(Hertz(stiffness), LankaraniNikravesh(restitution), ratio=Raw(), tension=Cut())
        interface = dry(law, friction)
    old = mechanism["A"]
    swapped = Connection(
        "A",
        Frame(old.frame.journal, old.frame.bearing),
        bearing="crank",
        journal="ground",
        realisation=Clearance(JournalInBearing(radius, clearance, length, axial_clearance), interface),
    )
    start = {"A.spin": 0.0}, {"A.spin": -np.asarray(mechanism.start.speeds["A.spin"])}
    return mechanism.replace("A", swapped).with_start(*start).renamed("marques_slider_crank_clearance")
