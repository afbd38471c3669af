"""Friction laws at a contact point. A new law is one file here, one line in CATALOGUE and one test."""

from .ambrosio import Ambrosio as Ambrosio
from .base import AbstractFriction as AbstractFriction
from .bengisu_akay import BengisuAkay as BengisuAkay
from .coulomb import Coulomb as Coulomb
from .dahl import Dahl as Dahl
from .frictionless import Frictionless as Frictionless
from .lugre import LuGre as LuGre
from .piecewise_linear import PiecewiseLinear as PiecewiseLinear
from .stribeck import Stribeck as Stribeck
from .threlfall import Threlfall as Threlfall

CATALOGUE = (
    Frictionless, Coulomb, Ambrosio, Threlfall, Stribeck, PiecewiseLinear, BengisuAkay, Dahl, LuGre,
)  # fmt: skip
