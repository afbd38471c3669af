"""Derivatives through contacts against differences of the event-located references: every cell is one output by one
parameter.

A cell passes within 1e-3 of itself (CELL); cells smaller than a share FLOOR of the output's largest (in relative
changes of the parameters) are compared with that: differences of the references do not know more.
"""

from math import tanh

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import test_four_bar_reference as four_bar
import test_triple_pendulum_reference as pendulum

import mbjax as mb
from experiments.planar_reference import REVOLUTION, Numbers, event_located
from mbjax.rotation import matrix

pytestmark = pytest.mark.long
CELL, FLOOR = 1e-3, 1e-3


def differences(run, names, h):
    """Derivatives of `run(name, relative change)` (numbers, or None for the unchanged), of order h^4."""
    columns = []
    for name in names:
        near, far = ((run(name, k * h) - run(name, -k * h)) / (2 * k * h) for k in (1, 2))
        columns.append((4 * near - far) / 3)
    return np.stack(columns, axis=-1)


def derivatives(mechanism, paths, outputs):
    """(outputs, groups), by relative changes of all values of each group of paths; `outputs` of (system, state)."""
    system = mb.assemble(mechanism)
    state = mb.initial_state(system)
    values = {path: jnp.asarray(mechanism.value(path)) for group in paths for path in group}

    def run(change):
        known = {path: values[path] * (1 + c) for group, c in zip(paths, change, strict=True) for path in group}
        return outputs(system.bind(known), state)

    return np.asarray(jax.jit(jax.jacfwd(run))(jnp.zeros(len(paths))))


def assert_same(found, expected, rows, names, least):
    assert found.shape == expected.shape == (len(rows), len(names)) and np.isfinite(found).all()
    size = np.maximum(np.abs(expected), FLOOR * np.abs(expected).max(axis=1, keepdims=True))
    off = np.abs(found - expected) / size
    print(f"{off.size} cells, worst {off.max():.1e}, median {np.median(off):.1e}")
    misses = {(rows[i], names[j]): float(off[i, j]) for i, j in np.argwhere(off > CELL)}
    assert not misses, misses
    assert (np.abs(expected) == size).sum() >= least, "too few cells are large enough to be compared by themselves"


def test_planar_slider_crank_through_nine_contacts():
    """Motion, times and speeds of touches, and peak forces."""
    outputs = np.array([0.1, 0.15, 0.2]) * REVOLUTION
    paths = {
        "stiffness": "B.interface.normal.elastic.stiffness",
        "restitution": "B.interface.normal.hysteresis.restitution",
        "clearance": "B.pair.clearance",
        "friction": "B.interface.friction.coefficient",
        "slider_mass": "slider.mass",
        "rod_mass": "rod.mass",
        "rod_inertia": "rod.inertia",
    }
    truth = Numbers(friction=0.03, curve=lambda v: tanh(v / 0.05))  # no kinks, where the reference would lose digits
    assert len(event_located(outputs, truth).touches) == 9

    def reference(name, change):
        run = event_located(outputs, truth.but(name, change))
        return np.concatenate([run.states.ravel(), run.touches[1:8].ravel(), run.peaks[:6]])

    def own(system, state):
        run = mb.simulate(system, state, np.array([0.0, *outputs]), steps=mb.Adaptive(rtol=1e-9), events=40)
        touches, releases = (np.arange(kind, 16, 2) for kind in (0, 1))
        log = run.events.log
        motion = run[["rod.angle", "slider.position.x", "rod.angle_rate", "slider.velocity.x"]][1:]
        switches = jnp.stack([log.time[touches], log.speed[touches]], axis=-1)[1:8]
        return jnp.concatenate([motion.ravel(), switches.ravel(), log.peak[releases][:6]])

    mechanism = mb.library.planar_slider_crank_clearance(friction=mb.Threlfall(truth.friction, 0.05))
    found = derivatives(mechanism, [[p] for p in paths.values()], own)
    rows = [f"{x} {k}" for k in range(3) for x in ("angle", "x", "spin", "speed")]
    rows += [f"touch {k} {x}" for k in range(1, 8) for x in ("time", "speed")] + [f"peak {k}" for k in range(6)]
    assert_same(found, differences(reference, paths, 1e-5), rows, list(paths), least=200)


def test_four_bar_with_friction_through_seven_contacts():
    outputs = np.array([0.03, 0.05])
    paths = {
        ("stiffness",): "joint.interface.normal.elastic.stiffness",
        ("restitution",): "joint.interface.normal.hysteresis.restitution",
        ("clearance",): "joint.pair.clearance",
        ("friction",): "joint.interface.friction.coefficient",
        ("crank_inertia",): "crank.inertia",
        ("coupler_mass",): "coupler.mass",
        ("across", "along"): "coupler.inertia",
        ("rocker_mass",): "rocker.mass",
        ("rocker_inertia",): "rocker.inertia",
    }
    truth = four_bar.Numbers(lambda v: tanh(v / 0.01), friction=0.1)
    assert (np.sign(four_bar.event_located(truth, outputs)[1][:, 1]) > 0).sum() == 7

    def reference(names, change):
        found, events = four_bar.event_located(truth.but(names, change), outputs)
        quantities = four_bar.of_reference(found)
        return np.concatenate([*(q.ravel() for q in quantities.values()), *events[2:12]])

    def own(system, state):
        run = mb.simulate(system, state, np.array([0.0, *outputs]), steps=mb.Adaptive(rtol=1e-9), events=40)
        q, v = run.states.q, run.states.v
        turns = matrix(q.orientation[1:])
        pin, pivot = jnp.array(four_bar.PIN), jnp.array(four_bar.PIVOT)
        coupler, rocker = q.position[1:, 1], q.position[1:, 2]
        gap = (2 * rocker - pivot) - (2 * coupler - turns[:, 0] @ pin)
        spins = jnp.einsum("tbij,tbj->tbi", turns, v.angular[1:])
        log = run.events.log
        speeds = log.speed * jnp.where(log.kind == 0, 1.0, -1.0)
        switches = jnp.stack([log.time, speeds], axis=-1)[2:12]
        places = jnp.stack([coupler, rocker], axis=1)
        motion = jnp.concatenate([v.velocity[1:, 1:], spins], axis=1)
        return jnp.concatenate([places.ravel(), motion.ravel(), gap.ravel(), switches.ravel()])

    rows = [f"{kind} {k}" for kind, count in (("place", 12), ("speed", 30), ("gap", 6)) for k in range(count)]
    rows += [f"switch {k} {x}" for k in range(2, 12) for x in ("time", "speed")]
    found = derivatives(
        mb.library.four_bar_clearance(friction=mb.Threlfall(0.1, 0.01)), [[p] for p in paths.values()], own
    )
    expected = differences(reference, paths, 3e-5)
    moving = np.abs(expected).max(axis=1) > 1e-12  # the rocker stays in its plane, the crank on its axis
    assert np.abs(found[~moving]).max() < 1e-9
    rows = [row for row, kept in zip(rows, moving, strict=True) if kept]
    assert_same(found[moving], expected[moving], rows, list(paths), least=300)


def test_pendulum_with_stops_through_five_contacts():
    outputs = np.array([1.2, 2.2])
    paths = {
        "stiffness of C2": ["C2.stops.0.normal.elastic.stiffness"],
        "stiffness of R3": ["R3.stops.0.normal.elastic.stiffness"],
        "restitution": [f"{c}.stops.0.normal.hysteresis.restitution" for c in ("C2", "R3")],
        "limit of C2": ["C2.stops.0.lower", "C2.stops.0.upper"],
        "limit of R3": ["R3.stops.0.lower", "R3.stops.0.upper"],
        "body1": ["body1.mass", "body1.inertia"],
        "body2": ["body2.mass", "body2.inertia"],
        "body3": ["body3.mass", "body3.inertia"],
    }

    def reference(name, change):
        factor = {key: 1 + change * (key == name) for key in paths}
        points = pendulum.POINTS * np.repeat([factor["body1"], factor["body2"], factor["body3"]], 7)
        stops = {
            k: (limit * factor[f"limit of {joint}"], stiffness * factor[f"stiffness of {joint}"])
            for (k, (limit, stiffness)), joint in zip(pendulum.STOPS.items(), ("C2", "R3"), strict=True)
        }
        law = pendulum.lankarani_nikravesh(0.75 * factor["restitution"])
        found, events = pendulum.event_located(law, np.array([0.0, *outputs]), 1e-12, points, stops)
        return np.concatenate([found[1:].ravel(), [e[0] for e in events], [e[3] for e in events]])

    def own(system, state):
        run = mb.simulate(system, state, np.array([0.0, *outputs]), steps=mb.Adaptive(rtol=1e-9), events=20)
        names = pendulum.COORDINATES
        log = run.events.log
        return jnp.concatenate(
            [run[[*names, *(f"{n}_rate" for n in names)]][1:].ravel(), log.time[:10], log.speed[:10]]
        )

    rows = [f"{n} {k}" for k in range(2) for n in (*pendulum.COORDINATES, *(f"{n}_rate" for n in pendulum.COORDINATES))]
    rows += [f"{x} of switch {k}" for x in ("time", "speed") for k in range(10)]
    found = derivatives(mb.library.triple_pendulum(stops="impact"), list(paths.values()), own)
    assert_same(found, differences(reference, paths, 1e-5), rows, list(paths), least=150)
