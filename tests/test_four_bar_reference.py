"""P3's four-bar with a spherical clearance joint against an event-located trajectory of its own, for each friction law.

The reference shares nothing with mbjax: five speeds (crank, rocker, turn of the coupler) instead of Cartesian
coordinates, so that no constraint is left to solve for or to drift; no Euler parameters (the coupler is a symmetric
top, the direction of its rod says all); plain Python floats; contacts end an integration where the depth is zero.

How long the two are compared. With friction: everything over 0.5 s; a clearance larger by 1e-12 of itself moves the
reference by less than 2e-9 at any time. Without friction rounding grows: depths of 4 um are differences of lengths of
0.1 m, so that the last digit of a length is 3e-12 of a depth, and each contact multiplies that. There the test runs the
reference twice more, with a clearance that is 3e-12 of itself larger and smaller, and compares until one of these is
2e-7 away. Measured: places 0.5 s (3e-9 apart), speeds 0.435 s, the ball in its socket, over the clearance, 0.365 s.
"""

import dataclasses
import functools
from collections.abc import Callable
from math import cos, exp, hypot, sin, sqrt, tanh

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_contact_references import quaternion_matrix

import mbjax as mb

END = 0.5
OUTPUTS = np.linspace(0, END, 101)
TOLERANCE, SHARE = 1e-6, 2e-7  # of the comparison; how far the reference may be from itself

# P3 tables 1 and 2 and Eq 9-10 as printed (CONVENTIONS): joints at the start, mass and inertia, Hertz stiffness.
PIN, PIVOT, JOINT = (0.0, 0.0, 0.02), (-0.04, -0.085, 0.0), (-0.0749, -0.085, 0.0652)
CRANK, ROD, ARM = 0.02, np.subtract(JOINT, PIN), np.subtract(JOINT, PIVOT).tolist()
LENGTH = hypot(*ROD)
GRAVITY, SOCKET, CLEARANCE = 9.81, 0.010, 0.2e-3


@dataclasses.dataclass(frozen=True)
class Numbers:
    coefficient: Callable  # of friction at a slip speed, over `friction`
    friction: float = 1.0
    clearance: float = CLEARANCE
    stiffness: float = (
        4 / 3 * 207e9 / (2 * (1 - 0.3**2)) * sqrt(SOCKET * (SOCKET - CLEARANCE) / (2 * SOCKET - CLEARANCE))
    )
    restitution: float = 0.9
    crank_inertia: float = 3.92e-5
    coupler_mass: float = 0.1416
    across: float = 1.7743e-3  # inertia of the coupler at its centre, across its rod
    along: float = 3.51e-5
    rocker_mass: float = 0.0316
    rocker_inertia: float = 1.456e-4

    def but(self, names, change):
        """These numbers, some of them larger by a share."""
        return dataclasses.replace(self, **{name: getattr(self, name) * (1 + change) for name in names})

    @functools.cached_property
    def crank_total(self):
        return self.crank_inertia + self.coupler_mass * CRANK**2

    @functools.cached_property
    def coupling(self):
        return self.coupler_mass * LENGTH / 2

    @functools.cached_property
    def across_pin(self):
        return self.across + self.coupler_mass * (LENGTH / 2) ** 2

    @functools.cached_property
    def rocker_total(self):
        return self.rocker_inertia + self.rocker_mass * (ARM[0] ** 2 + ARM[2] ** 2) / 4


LAWS = {
    "frictionless": (mb.Frictionless(), lambda v: 0.0),
    "Threlfall": (mb.Threlfall(0.1, 1e-3), lambda v: 0.1 * tanh(v / 1e-3)),
    "Ambrosio": (mb.Ambrosio(0.1, 1e-4, 1e-3), lambda v: 0.1 * min(max((v - 1e-4) / 9e-4, 0.0), 1.0)),
    "Stribeck": (mb.Stribeck(0.1, 0.15), lambda v: (0.1 + 0.05 * exp(-((v / 1e-3) ** 2))) * tanh(v / 1e-3)),
    "piecewise": (
        mb.PiecewiseLinear(0.1, 0.15),
        lambda v: 0.15 * v / 1e-4 if v <= 1e-4 else max(0.15 - 0.05 * (v - 1e-4) / 9e-4, 0.1),
    ),
    "Bengisu-Akay": (
        mb.BengisuAkay(0.1, 0.15),
        lambda v: 0.15 - 0.15e8 * (v - 1e-4) ** 2 if v < 1e-4 else 0.1 + 0.05 * exp(-1000 * (v - 1e-4)),
    ),
}


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def times(s, a):
    return s * a[0], s * a[1], s * a[2]


def plus(a, s, b):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


def places(x):
    """Pin from the crank's pivot, ball from the rocker's pivot, ball from the socket's centre."""
    s, c = sin(x[0]), cos(x[0])
    pin = 0.0, -CRANK * s, CRANK * c
    s, c = sin(x[1]), cos(x[1])
    ball = c * ARM[0] + s * ARM[2], 0.0, c * ARM[2] - s * ARM[0]
    return pin, ball, plus(plus(plus(PIVOT, 1, ball), -1, pin), -LENGTH, x[2:5])


def rates(x, touch, n):
    """Rates of (crank angle, rocker angle, direction of the rod, crank and rocker speed, coupler's angular velocity),
    and of the depth.

    `touch` is the speed at touch, None in free flight. Principle of virtual power, solved by hand: the coupler's
    acceleration across its rod is eliminated, which leaves one equation for the crank.
    """
    pin, ball, gap = places(x)
    rod, crank, rocker, w = x[2:5], x[5], x[6], x[7:10]
    rod_rate = cross(w, rod)
    pin_way, ball_way = (0.0, -pin[2], pin[1]), (ball[2], 0.0, -ball[0])  # velocities at unit speed
    distance = sqrt(dot(gap, gap))
    normal = times(1 / distance, gap) if distance else (0.0, 0.0, 0.0)
    gap_rate = plus(plus(times(rocker, ball_way), -crank, pin_way), -LENGTH, rod_rate)
    depth, rate = distance - n.clearance, dot(gap_rate, normal)
    radius = SOCKET - n.clearance
    force = 0.0, 0.0, 0.0  # on the ball
    if touch is not None and depth > 0:
        push = n.stiffness * depth * sqrt(depth) * (1 + 0.75 * (1 - n.restitution**2) * rate / touch)
        surfaces = plus(times(rocker * radius, (normal[2], 0.0, -normal[0])), -SOCKET, cross(w, normal))
        slip = plus(plus(gap_rate, 1, surfaces), -rate, normal)
        speed = sqrt(dot(slip, slip))
        share = n.friction * n.coefficient(speed) * abs(push) / speed if speed else 0.0
        force = plus(times(-push, normal), -share, slip)
    # Rocker about its pivot.
    turn = cross(plus(ball, radius, normal), force)[1] + n.rocker_mass * GRAVITY * ball[0] / 2
    rocker_rate = turn / n.rocker_total
    # Coupler about its pin; `pull` is its centre's acceleration without the part of the unknown angular ones.
    pull = plus(plus((0.0, 0.0, GRAVITY), -crank * crank, pin), LENGTH / 2, cross(w, rod_rate))
    torque = plus(cross(force, plus(times(LENGTH, rod), SOCKET, normal)), -n.coupling, cross(rod, pull))
    torque = plus(torque, (n.across - n.along) * dot(w, rod), rod_rate)
    axial = dot(torque, rod)
    torque, lever = plus(torque, -axial, rod), cross(rod, pin_way)
    load = -dot(pin_way, plus(force, n.coupler_mass, pull)) - n.coupling / n.across_pin * dot(lever, torque)
    crank_rate = load / (n.crank_total - n.coupling**2 / n.across_pin * dot(lever, lever))
    turn = plus(times(axial / n.along, rod), 1 / n.across_pin, plus(torque, -n.coupling * crank_rate, lever))
    return (crank, rocker, *rod_rate, crank_rate, rocker_rate, *turn), rate


def depth_at(x, n):
    gap = places(x)[2]
    return sqrt(dot(gap, gap)) - n.clearance


def event_located(numbers, outputs=OUTPUTS):
    """States at `outputs`, from rest; times and speeds of all contacts (touch positive, release negative)."""
    x, t, touch, events = np.array([0.0, 0.0, *(ROD / LENGTH), 0.0, 0.0, 0.0, 0.0, 0.0]), 0.0, None, []
    found = np.full((outputs.size, x.size), np.nan)
    while t < outputs[-1]:

        def switch(t, x):
            return depth_at(x.tolist(), numbers)

        switch.terminal, switch.direction = True, 1 if touch is None else -1
        run = solve_ivp(
            lambda t, x: rates(x.tolist(), touch, numbers)[0], (t, outputs[-1]), x, method="DOP853",
            rtol=1e-12, atol=1e-14, max_step=1e-4, events=switch, dense_output=True,
        )  # fmt: skip
        # None was missed: the depth keeps its sign from one to the next.
        assert max(switch.direction * switch(t, y) for y in run.sol(np.linspace(t, run.t[-1], 100)).T) < 1e-12
        assert max(switch.direction * switch(t, y) for y in run.y.T) < 1e-12
        here = (t <= outputs) & (run.t[-1] >= outputs)
        if here.any():
            found[here] = run.sol(outputs[here]).T
        t, x = run.t[-1], run.y[:, -1]
        if run.status == 1:
            speed = rates(x.tolist(), None, numbers)[1]
            events.append((t, speed))
            touch = speed if touch is None else None
    return found, np.array(events)


def quantities(pin, coupler, rocker, velocities, spins):
    """What is compared, each (times, vectors, 3): places and speeds of the bodies, and the ball in its socket."""
    gap = (2 * rocker - PIVOT) - (2 * coupler - pin)
    return {
        "place": np.stack([coupler, rocker], 1),
        "speed": np.concatenate([velocities, spins], 1),
        "gap": gap[:, None],
    }


def of_reference(found):
    pin, ball, _ = (np.array(x) for x in zip(*(places(x) for x in found.tolist()), strict=True))
    rod, w, crank, rocker = found[:, 2:5], found[:, 7:10], np.zeros((len(found), 3)), np.zeros((len(found), 3))
    crank[:, 0], rocker[:, 1] = found[:, 5], found[:, 6]
    velocities = np.stack([np.cross(crank, pin) + LENGTH / 2 * np.cross(w, rod), np.cross(rocker, ball) / 2], 1)
    return quantities(pin, pin + LENGTH / 2 * rod, PIVOT + ball / 2, velocities, np.stack([crank, w, rocker], 1))


def of_mbjax(states):
    position = np.asarray(states.q.position)
    turns = np.array([[quaternion_matrix(p) for p in row] for row in np.asarray(states.q.orientation)])
    spins = np.einsum("tbij,tbj->tbi", turns, np.asarray(states.v.angular))
    velocities = np.asarray(states.v.velocity)[:, 1:]
    return quantities(turns[:, 0] @ PIN, position[:, 1], position[:, 2], velocities, spins)


def differences(a, b):
    """Largest difference of a vector at each output, over the largest length that this vector ever has."""
    size = {k: np.linalg.norm(b[k], axis=-1).max(axis=0) for k in b}
    return {k: np.max(np.linalg.norm(a[k] - b[k], axis=-1) / size[k], axis=1) for k in b}


@functools.cache
def at_rest():
    """The start, concentric: the same for all laws (none of these has a bristle)."""
    return mb.initial_state(mb.assemble(mb.library.four_bar_clearance()))


def both(name):
    """Quantities and contacts of the reference, and mbjax' trajectory."""
    law, coefficient = LAWS[name]
    found, events = event_located(Numbers(coefficient))
    system = mb.assemble(mb.library.four_bar_clearance(friction=law))
    trajectory = mb.simulate(system, at_rest(), OUTPUTS, steps=mb.Adaptive(rtol=1e-11), events=100)
    assert len(trajectory.events) == len(events)
    return of_reference(found), events, trajectory


def assert_same_contacts(trajectory, events, count):
    """The first `count` events: touches stand in even rows, releases between them. mbjax finds the time of a switch on
    the tangent at the end of its step (at most 1e-10 m away, which makes 2e-7 s at 0.5 mm/s)."""
    log = trajectory.events.log
    np.testing.assert_allclose(log.time[:count], events[:count, 0], rtol=0, atol=2e-9)
    np.testing.assert_allclose(log.speed[:count:2], events[:count:2, 1], rtol=TOLERANCE)
    np.testing.assert_allclose(log.speed[1:count:2], -events[1:count:2, 1], rtol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in LAWS if name != "frictionless"])
def test_four_bar_with_friction_follows_the_event_located_reference_to_the_end(name):
    expected, events, trajectory = both(name)
    for kind, off in differences(of_mbjax(trajectory.states), expected).items():
        assert off.max() < TOLERANCE, kind
    assert len(events) == 45  # the last touch, at 0.104 s, is not followed by a release
    assert_same_contacts(trajectory, events, len(events))


@pytest.mark.long
def test_four_bar_without_friction_follows_the_event_located_reference_as_long_as_that_knows():
    expected, events, trajectory = both("frictionless")
    clearances = (CLEARANCE * (1 - 3e-12), CLEARANCE * (1 + 3e-12))
    shaken = [event_located(Numbers(LAWS["frictionless"][1], clearance=clearance)) for clearance in clearances]
    moved = [differences(of_reference(found), expected) for found, _ in shaken]
    own = {kind: np.maximum(*(m[kind] for m in moved)) for kind in moved[0]}
    off = differences(of_mbjax(trajectory.states), expected)
    for kind, least in {"place": 0.5, "speed": 0.4, "gap": 0.2}.items():
        lost = np.flatnonzero(own[kind] > SHARE)
        reach = lost[0] if lost.size else OUTPUTS.size
        assert OUTPUTS[reach - 1] >= least, kind
        assert off[kind][:reach].max() < TOLERANCE, kind
    assert {len(events), *(len(e) for _, e in shaken)} == {43}
    apart = np.max([np.abs(e[::2, 1] / events[::2, 1] - 1) for _, e in shaken], axis=0)
    lost = np.flatnonzero(apart > SHARE)
    count = 2 * lost[0] if lost.size else len(events)
    assert count >= 24
    assert_same_contacts(trajectory, events, count)
