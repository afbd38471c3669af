"""The ideal twin of a mechanism, and clearance in one line."""

import warnings

import numpy as np

from .array import is_concrete
from .body import GROUND, PlanarBody
from .connection import Connection
from .contact import Clearance
from .contact.friction import Frictionless
from .contact.interface import Dry
from .contact.normal import Impact
from .contact.normal.elastic import Hertz
from .contact.normal.hysteresis import LankaraniNikravesh
from .contact.pair import BallInSocket, CircleInCircle, CylinderInCylinder, JournalInBearing
from .errors import ModelError, ModelWarning
from .joint import Cylindrical, Revolute, Spherical
from .material import hertz_stiffness, steel
from .mechanism import Mechanism


def perfect(mechanism):
    """The mechanism with every joint perfect and without stops: the papers take their initial conditions from it."""
    connections = [
        Connection(c.name, c.frame, bearing=c.bearing, journal=c.journal, realisation=c.realisation.perfect())
        for c in mechanism.connections
    ]
    groups = {g: getattr(mechanism, g) for g in ("bodies", "drivers", "elements", "markers")}
    return Mechanism(mechanism.name, connections=connections, start=mechanism.start, **groups)


def add_clearance(
    mechanism,
    name,
    clearance,
    *,
    material=None,
    radius=0.01,
    length=None,
    restitution=0.9,
    friction=None,
    speed=1.0,
):
    """The mechanism with radial clearance (m) in one of its perfect joints, dry, with stiffness from Hertz.

    A revolute joint becomes a circle in a circle between planar bodies; between spatial ones a journal in a bearing of
    `length` (default: 2 radii) with the same axial clearance. A cylindrical joint becomes a cylinder in four strips,
    which share the stiffness; a spherical one a ball in a socket. `radius` is that of the bearing. `restitution` is the
    Lankarani-Nikravesh parameter, `friction` any friction law. `speed` (m/s) is the impact speed you expect: a warning
    tells when it exceeds the law's validity, or when contact is so short that it cannot be resolved. Simulations warn
    when a touch was faster than that.
    """
    material = steel() if material is None else material
    realisation = mechanism[name].realisation
    length = 2 * radius if length is None else length
    planar = [b.name for b in mechanism.bodies if isinstance(b, PlanarBody)] + [GROUND]
    flat = mechanism[name].bearing in planar and mechanism[name].journal in planar
    stiffness = hertz_stiffness(np.asarray(radius - clearance), -np.asarray(radius), material) if clearance else None
    if isinstance(realisation, Spherical):
        pair = BallInSocket(radius, clearance)
    elif isinstance(realisation, Revolute):
        pair = CircleInCircle(radius, clearance) if flat else JournalInBearing(radius, clearance, length, clearance)
    elif isinstance(realisation, Cylindrical):
        pair = CylinderInCylinder(radius, clearance, length)
        stiffness = None if stiffness is None else stiffness / pair.strips
    else:
        raise ModelError(
            f"add_clearance: `{name}` is a {type(realisation).__name__}; clearance in one line is for Revolute, "
            "Cylindrical and Spherical joints. Build others with `Clearance(pair, interface)`."
        )
    if stiffness is None:
        raise ModelError(
            "add_clearance: without clearance Hertz' stiffness is infinite. Give a `Clearance(pair, interface)` with a "
            "stiffness of your own."
        )
    _warn(mechanism, name, float(stiffness), speed, material)
    limit = material.highest_impact_speed
    interface = Dry(Impact(Hertz(stiffness), LankaraniNikravesh(restitution)), friction or Frictionless())
    return mechanism.replace(name, Clearance(pair, interface, float(limit) if is_concrete(limit) else None))


def _warn(mechanism, name, stiffness, speed, material):
    masses = {b.name: b.mass for b in mechanism.bodies}
    found = [masses[b] for b in (mechanism[name].bearing, mechanism[name].journal) if b in masses]
    if not is_concrete(*found):
        return
    mass = 1 / sum(1 / float(m) for m in found)
    limit = float(material.highest_impact_speed)
    if speed > limit:
        warnings.warn(
            f"`{name}`: an impact at {speed:g} m/s exceeds {limit:.3g} m/s = 1e-5 sqrt(E / rho), where dents "
            "start to stay; the law then stands for its restitution only (P2 after 25).",
            ModelWarning,
            stacklevel=3,
        )
    duration = 2.94 * (mass / stiffness) ** 0.4 * 1.25**0.4 / speed**0.2
    if duration < 1e-8:
        warnings.warn(
            f"`{name}`: a contact at {speed:g} m/s lasts about {duration:.1e} s. Steps of a twentieth of that make "
            "long runs impossible: take a softer law, or check mass, clearance and stiffness.",
            ModelWarning,
            stacklevel=3,
        )
