"""Contact: pairs of surfaces, normal and friction laws, films, and the joint with clearance made of them."""

from . import film as film
from . import friction as friction
from . import interface as interface
from . import normal as normal
from . import pair as pair
from .clearance import Clearance as Clearance

CATALOGUE = (Clearance,)
