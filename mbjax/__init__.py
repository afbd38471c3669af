"""mbjax: differentiable multibody dynamics of mechanisms with imperfect joints, in JAX. See README and docs/."""

from . import contact as contact
from . import element as element
from . import joint as joint
from . import shape as shape
from . import signal as signal
from .body import GROUND as GROUND
from .body import PlanarBody as PlanarBody
from .body import SpatialBody as SpatialBody
from .bushing import BoucWen as BoucWen
from .bushing import Bushing as Bushing
from .bushing import Curve as Curve
from .bushing import Maxwell as Maxwell
from .bushing import bushing_rig as bushing_rig
from .compilation import compiled as compiled
from .connection import Connection as Connection
from .connection import Driver as Driver
from .contact import Clearance as Clearance
from .contact.film import ShortFilm as ShortFilm
from .contact.film import SqueezeFilm as SqueezeFilm
from .contact.friction import Ambrosio as Ambrosio
from .contact.friction import BengisuAkay as BengisuAkay
from .contact.friction import Coulomb as Coulomb
from .contact.friction import Dahl as Dahl
from .contact.friction import Frictionless as Frictionless
from .contact.friction import LuGre as LuGre
from .contact.friction import PiecewiseLinear as PiecewiseLinear
from .contact.friction import Stribeck as Stribeck
from .contact.friction import Threlfall as Threlfall
from .contact.interface import Dry as Dry
from .contact.interface import Hybrid as Hybrid
from .contact.interface import Lubricated as Lubricated
from .contact.normal import DampedLayer as DampedLayer
from .contact.normal import Exponential as Exponential
from .contact.normal import Impact as Impact
from .contact.normal import RestitutionSpring as RestitutionSpring
from .contact.normal import SmoothRestitutionSpring as SmoothRestitutionSpring
from .contact.normal import Staged as Staged
from .contact.normal import Weighted as Weighted
from .contact.normal.elastic import DubowskyFreudenstein as DubowskyFreudenstein
from .contact.normal.elastic import Esdu78035 as Esdu78035
from .contact.normal.elastic import Hertz as Hertz
from .contact.normal.elastic import Pereira as Pereira
from .contact.normal.hysteresis import Flores as Flores
from .contact.normal.hysteresis import Gonthier as Gonthier
from .contact.normal.hysteresis import HuntCrossley as HuntCrossley
from .contact.normal.hysteresis import LankaraniNikravesh as LankaraniNikravesh
from .contact.normal.policy import Allowed as Allowed
from .contact.normal.policy import Clip as Clip
from .contact.normal.policy import Cut as Cut
from .contact.normal.policy import Raw as Raw
from .contact.normal.policy import Symmetric as Symmetric
from .contact.pair import BallInSocket as BallInSocket
from .contact.pair import BallOnPlane as BallOnPlane
from .contact.pair import CircleInCircle as CircleInCircle
from .contact.pair import CylinderInCylinder as CylinderInCylinder
from .contact.pair import JournalInBearing as JournalInBearing
from .contact.pair import SliderInGuide as SliderInGuide
from .contact.restitution import effective_restitution as effective_restitution
from .contact.restitution import equivalent_hertz as equivalent_hertz
from .contact.restitution import restitution_parameter as restitution_parameter
from .contact.stop import Stop as Stop
from .element import AppliedForce as AppliedForce
from .element import Gravity as Gravity
from .element import JointForce as JointForce
from .element import JointFriction as JointFriction
from .element import JointSpring as JointSpring
from .element import Motor as Motor
from .element import SpringDamper as SpringDamper
from .errors import ModelError as ModelError
from .errors import ModelWarning as ModelWarning
from .errors import SimulationError as SimulationError
from .frame import Frame as Frame
from .frame import Marker as Marker
from .frame import Placement as Placement
from .frame import frame as frame
from .frame import frame_on_bodies as frame_on_bodies
from .ideal import add_clearance as add_clearance
from .ideal import perfect as perfect
from .initial import initial_state as initial_state
from .joint import CustomRows as CustomRows
from .joint import Cylindrical as Cylindrical
from .joint import Free as Free
from .joint import MasslessLink as MasslessLink
from .joint import Mixed as Mixed
from .joint import Planar as Planar
from .joint import Revolute as Revolute
from .joint import Rigid as Rigid
from .joint import Spherical as Spherical
from .joint import Translation as Translation
from .joint import Universal as Universal
from .material import Material as Material
from .material import hertz_stiffness as hertz_stiffness
from .material import steel as steel
from .mechanism import Mechanism as Mechanism
from .mechanism import Start as Start
from .system import System as System
from .system import assemble as assemble

# Loaded on first use: they bring in diffrax, which takes as long to import as everything above.
_LATER = {
    "simulate": "simulation",
    "Trajectory": "trajectory",
    "Tangents": "stepping.adjoint",
    "ForwardMode": "stepping.adjoint",
    "Replay": "stepping.adjoint",
    "Rodas4": "stepping.rosenbrock",
    "Projection": "stepping.stabilise",
    "Baumgarte": "stepping.stabilise",
    "Adaptive": "stepping.steps",
    "Fixed": "stepping.steps",
    "equilibrium": "statics",
    "quasi_static": "statics",
    "linearize": "linearization",
    "trust_horizon": "trust",
    "load": "io.read",
    "library": "library",
}


def __getattr__(name):
    import importlib

    if name == "library":
        return importlib.import_module(".library", __name__)
    if name in _LATER:
        value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mbjax' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_LATER])
