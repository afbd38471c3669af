"""P2's slider-crank with a clearance joint in its two free coordinates, integrated by SciPy with located contacts.

It shares nothing with mbjax: no constraints, plain Python floats, Lankarani and Nikravesh's force written out. What
runs of mbjax, their derivatives and what is fitted to them are tested against.
"""

import dataclasses
import functools
from collections.abc import Callable
from math import cos, hypot, pi, sin, sqrt

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

SPEED = -5000 * 2 * pi / 60
CRANK, ROD, BEARING = 0.05, 0.12, 0.010
REVOLUTION = 2 * pi / abs(SPEED)
CLEARANCE = 0.5e-3
STIFFNESS = 4 / 3 * 207e9 / (2 * (1 - 0.3**2)) * sqrt(BEARING * (BEARING - CLEARANCE) / CLEARANCE)


def ramp(v, v0=1e-4, v1=1e-3):
    """Ambrosio's friction over its coefficient, at slip speed `v` (m/s)."""
    return min(max((v - v0) / (v1 - v0), 0.0), 1.0)


@dataclasses.dataclass(frozen=True)
class Numbers:
    clearance: float = CLEARANCE
    stiffness: float = STIFFNESS
    restitution: float = 0.9
    friction: float = 0.0
    slider_mass: float = 0.14
    rod_mass: float = 0.21
    rod_inertia: float = 25e-5
    curve: Callable = ramp

    def but(self, name, change):
        """These numbers, one of them larger by a share."""
        return dataclasses.replace(self, **{name: getattr(self, name) * (1 + change)})


def motion(t, x, touch, n):
    """Rates of (rod angle, slider x, and their rates), depth, its rate, normal force; `touch` is the rate at touch,
    None in free flight."""
    angle, slider, spin, speed = x
    phi = SPEED * t
    px, py = CRANK * cos(phi), CRANK * sin(phi)
    c, s = cos(angle), sin(angle)
    gx, gy = slider - px - ROD * c, -py - ROD * s
    hx, hy = speed + SPEED * py + ROD * spin * s, -SPEED * px - ROD * spin * c
    distance = hypot(gx, gy)
    nx, ny = (gx / distance, gy / distance) if distance > 0 else (0.0, 0.0)
    depth, rate = distance - n.clearance, hx * nx + hy * ny
    push = fx = fy = 0.0
    if touch is not None and depth > 0:
        push = n.stiffness * depth * sqrt(depth) * (1 + 0.75 * (1 - n.restitution**2) * rate / touch)
        slip = -hx * ny + hy * nx - spin * BEARING
        rub = n.friction * n.curve(abs(slip)) * abs(push) * (1 if slip > 0 else -1)
        fx, fy = -push * nx + rub * ny, -push * ny - rub * nx
    moment = (ROD * s + BEARING * ny) * fx - (ROD * c + BEARING * nx) * fy
    base = n.rod_mass * ROD / 2 * SPEED**2 * (s * px - c * py)
    turn = (moment - base) / (n.rod_inertia + n.rod_mass * ROD**2 / 4)
    return (spin, speed, turn, fx / n.slider_mass), depth, rate, push


@dataclasses.dataclass(frozen=True)
class Run:
    states: np.ndarray  # (outputs, 4)
    acceleration: np.ndarray  # (outputs,) m/s^2, of the slider
    touches: np.ndarray  # (contacts, 2) time and speed
    peaks: np.ndarray  # (contacts that ended,) N


def event_located(outputs, numbers=Numbers(), flight=2e-5, contact=2e-6):
    """The motion from top dead centre, concentric. `flight` and `contact` are the longest steps (s)."""
    outputs = np.asarray(outputs)
    x, t, touch = np.array([0.0, CRANK + ROD, -SPEED * CRANK / ROD, 0.0]), 0.0, None
    states, acceleration = np.full((outputs.size, 4), np.nan), np.full(outputs.size, np.nan)
    touches, peaks = [], []
    while t < outputs[-1]:

        def crossing(t, x):
            return motion(t, x.tolist(), None, numbers)[1]

        crossing.terminal, crossing.direction = True, 1 if touch is None else -1
        run = solve_ivp(
            lambda t, x, touch=touch: motion(t, x.tolist(), touch, numbers)[0], (t, outputs[-1]), x, method="DOP853",
            rtol=1e-12, atol=1e-14, events=crossing, dense_output=True, max_step=flight if touch is None else contact,
        )  # fmt: skip
        for k in np.flatnonzero((outputs >= t) & (outputs <= run.t[-1])):
            states[k] = run.sol(outputs[k])
            acceleration[k] = motion(outputs[k], states[k].tolist(), touch, numbers)[0][3]
        if run.status == 1 and touch is not None:
            peaks.append(_crest(run, functools.partial(motion, touch=touch, n=numbers)))
        t, x = run.t[-1], run.y[:, -1]
        if run.status == 1 and touch is None:
            touch = motion(t, x.tolist(), None, numbers)[2]
            touches.append((t, touch))
        else:
            touch = None
    return Run(states, acceleration, np.array(touches), np.array(peaks))


def _crest(run, rates):
    """The largest normal force of one contact."""

    def push(t):
        return rates(t, run.sol(t).tolist())[3]

    k = int(np.argmax([push(t) for t in run.t]))
    inside = run.t[max(k - 1, 0)], run.t[min(k + 1, run.t.size - 1)]
    return -minimize_scalar(lambda t: -push(t), bounds=inside, method="bounded", options={"xatol": 1e-14}).fun
