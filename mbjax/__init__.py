"""mbjax: differentiable multibody dynamics of mechanisms with imperfect joints, in JAX. See README and docs/."""

from . import element as element
from . import joint as joint
from . import shape as shape
from . import signal as signal
from .body import GROUND as GROUND
from .body import PlanarBody as PlanarBody
from .body import SpatialBody as SpatialBody
from .connection import Connection as Connection
from .connection import Driver as Driver
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
from .initial import initial_state as initial_state
from .joint import CustomRows as CustomRows
from .joint import Cylindrical as Cylindrical
from .joint import Free as Free
from .joint import MasslessLink as MasslessLink
from .joint import Planar as Planar
from .joint import Revolute as Revolute
from .joint import Rigid as Rigid
from .joint import Spherical as Spherical
from .joint import Translation as Translation
from .joint import Universal as Universal
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
