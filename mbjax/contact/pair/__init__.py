"""Where two surfaces touch: depth, rate, normal, slip and contact points."""

from .ball_in_socket import BallInSocket as BallInSocket
from .ball_on_plane import BallOnPlane as BallOnPlane
from .base import AbstractPair as AbstractPair
from .circle_in_circle import CircleInCircle as CircleInCircle
from .cylinder_in_cylinder import CylinderInCylinder as CylinderInCylinder
from .journal_in_bearing import JournalInBearing as JournalInBearing
from .slider_in_guide import SliderInGuide as SliderInGuide

CATALOGUE = (CircleInCircle, BallInSocket, BallOnPlane, CylinderInCylinder, JournalInBearing, SliderInGuide)
