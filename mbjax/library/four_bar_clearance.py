from ..contact import Clearance
from ..contact.pair import BallInSocket
from ..material import hertz_stiffness
from .dry import dry, raw_impact
from .four_bar import four_bar


def four_bar_clearance(
    *, clearance=0.2e-3, radius=0.01, stiffness=None, restitution=0.9, friction=None, interface=None, **ideal
):
    """P3's spatial four-bar with spherical clearance at `joint` (socket on the coupler, ball on the rocker).

    Released from rest, concentric. `stiffness` None is P3's Eq 9 as printed, with the plus sign (1.067e10 N/m^1.5 at
    0.2 mm); for a ball *in* a socket it is `mb.hertz_stiffness(radius - clearance, -radius)` (1.0615e11). P3's friction
    laws: `mb.Threlfall(0.1, 1e-3)`, `mb.Ambrosio(0.1)`, `mb.PiecewiseLinear(0.1, 0.15)`, `mb.BengisuAkay(0.1, 0.15)`.
    """
    if interface is None:
        stiffness = hertz_stiffness(radius, radius - clearance) if stiffness is None else stiffness
        interface = dry(raw_impact(stiffness, restitution), friction)
    mechanism = four_bar(**ideal).replace("joint", Clearance(BallInSocket(radius, clearance), interface))
    return mechanism.renamed("four_bar_clearance")
