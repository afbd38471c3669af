"""The dry contacts of the papers, as the builders use them."""

from ..contact.friction import Frictionless
from ..contact.interface import Dry
from ..contact.normal import Impact
from ..contact.normal.elastic import Hertz
from ..contact.normal.hysteresis import LankaraniNikravesh
from ..contact.normal.policy import Allowed, Clip, Cut, Raw


def raw_impact(stiffness, restitution):
    """Lankarani-Nikravesh as P2 and P3 use it: rate ratio as it comes, tension allowed."""
    return Impact(Hertz(stiffness), LankaraniNikravesh(restitution), ratio=Raw(), tension=Allowed())


def clipped_impact(stiffness, restitution, exponent=1.5):
    """Lankarani-Nikravesh as P1 uses it: ratio clipped at 1, no tension."""
    return Impact(Hertz(stiffness, exponent), LankaraniNikravesh(restitution), ratio=Clip(), tension=Cut())


def dry(normal, friction=None):
    return Dry(normal, Frictionless() if friction is None else friction)
