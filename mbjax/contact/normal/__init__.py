"""Normal laws: elastic part, hysteresis factor and policies; springs with restitution; layers and stages."""

from . import elastic as elastic
from . import hysteresis as hysteresis
from . import policy as policy
from .base import AbstractNormal as AbstractNormal
from .base import Press as Press
from .damped_layer import DampedLayer as DampedLayer
from .impact import Impact as Impact
from .restitution_spring import RestitutionSpring as RestitutionSpring
from .smooth_restitution_spring import SmoothRestitutionSpring as SmoothRestitutionSpring
from .staged import AbstractBlend as AbstractBlend
from .staged import Exponential as Exponential
from .staged import Staged as Staged
from .staged import Weighted as Weighted

CATALOGUE = (Impact, RestitutionSpring, SmoothRestitutionSpring, DampedLayer, Staged, Weighted, Exponential)
