"""What lies between the two surfaces of a clearance."""

from .base import AbstractInterface as AbstractInterface
from .dry import Dry as Dry
from .hybrid import Hybrid as Hybrid
from .lubricated import Lubricated as Lubricated

CATALOGUE = (Dry, Lubricated, Hybrid)
