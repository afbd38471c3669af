"""The unit of every field that a model file can hold. Only the dimension counts: any unit of the same kind is read.

Letters stand for what depends on the place: Q is the unit of the joint coordinate (rad or m), F the force on it
(N*m or N), Y what a signal returns. `{k}` is the index of an entry in its list, from 0; `{n}` counts from 1. A class
that is not listed here may say it in the field: `eqx.field(..., metadata={"unit": "N/m"})`.
"""

import re

from ..body import PlanarBody, SpatialBody
from ..connection import COORDINATES, Driver
from ..contact import Clearance
from ..element import AppliedForce, Gravity, JointForce, JointFriction, JointSpring, Motor, SpringDamper, characteristic
from ..frame import Placement
from ..joint import MasslessLink, Universal
from ..signal import Constant, ConstantSpeed, Harmonic, Polynomial, SmoothStep, Table

FIELDS = {
    SpatialBody: {
        "mass": "kg",
        "inertia": "kg*m^2",
        "position": "m",
        "orientation": "1",
        "velocity": "m/s",
        "angular_velocity": "rad/s",
    },
    PlanarBody: {
        "mass": "kg",
        "inertia": "kg*m^2",
        "position": "m",
        "angle": "rad",
        "velocity": "m/s",
        "angular_velocity": "rad/s",
        "origin": "m",
        "plane_x": "1",
        "plane_y": "1",
    },
    Placement: {"point": "m", "axis": "1", "reference": "1"},
    MasslessLink: {"length": "m"},
    Universal: {"bearing_cross": "1", "journal_cross": "1"},
    Driver: {"signal": "Q"},
    Constant: {"value": "Y"},
    ConstantSpeed: {"speed": "Y/s", "start": "Y"},
    SmoothStep: {"start": "Y", "end": "Y", "begin_time": "s", "end_time": "s"},
    Harmonic: {"amplitude": "Y", "frequency": "Hz", "phase": "rad", "offset": "Y"},
    Polynomial: {"coefficients": "Y/s^{k}"},
    Table: {"times": "s", "values": "Y"},
    Gravity: {"acceleration": "m/s^2"},
    SpringDamper: {"point_1": "m", "point_2": "m"},
    JointSpring: {},
    JointForce: {"signal": "F"},
    JointFriction: {
        "viscous": "F*s/Q",
        "dry": "F",
        "speed": "Q/s",
        "breakaway": "F",
        "stribeck_speed": "Q/s",
    },
    AppliedForce: {"signal": "F", "direction": "1", "point": "m"},
    Motor: {
        "torque": "N*m",
        "gear": "rad/Q",
        "rotor_inertia": "kg*m^2",
        "torque_constant": "1",
        "loss": "1",
        "loss_speed": "Q/s",
    },
    characteristic.Linear: {"stiffness": "F/Q", "damping_coefficient": "F*s/Q", "rest": "Q", "preload": "F"},
    characteristic.Polynomial: {
        "coefficients": "F/Q^{n}",
        "damping_coefficient": "F*s/Q",
        "rest": "Q",
        "preload": "F",
    },
    characteristic.Tabulated: {"deflections": "Q", "forces": "F", "damping_coefficient": "F*s/Q", "rest": "Q"},
}

_ALONG = {"Q": "m", "F": "N"}
_TURNING = {"Q": "rad", "F": "N*m"}
COORDINATE = {c: _ALONG if c.startswith(("axial", "radial")) else _TURNING for c in COORDINATES}

# What the letters mean inside a class: the field that decides, and its choices (None: always the same).
SYMBOLS = {
    SpringDamper: (None, {None: _ALONG}),
    Clearance: (None, {None: _ALONG}),
    AppliedForce: ("kind", {"force": {"F": "N"}, "torque": {"F": "N*m"}}),
}
BY_COORDINATE = ("coordinate", COORDINATE)


def unit_of(entry, symbols):
    """The unit of a field with its letters replaced; `{k}`, `{n}` stay. None where a letter is not known."""
    return resolve(entry.unit, symbols)


def resolve(unit, symbols):
    letters = re.findall(r"\b[QFY]\b", unit)
    if any(symbols.get(letter) is None for letter in letters):
        return None
    text = re.sub(r"\b[QFY]\b", lambda m: f"({symbols[m[0]]})", unit)
    text = re.sub(r"\((\w+)\)", r"\1", text)
    return re.sub(r"^\(([^()]*)\)", r"\1", text)
