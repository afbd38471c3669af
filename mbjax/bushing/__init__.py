"""Bushings: six-dof elastic joints with nonlinear, frequency- and amplitude-dependent branches."""

from .base import AbstractBranch as AbstractBranch
from .bouc_wen import BoucWen as BoucWen
from .bushing import Bushing as Bushing
from .curve import Curve as Curve
from .maxwell import Maxwell as Maxwell
from .rig import bushing_rig as bushing_rig

CATALOGUE = (Bushing, Maxwell, BoucWen, Curve)
