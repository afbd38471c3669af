"""All force laws of a system together: depths and rates of their contact points, their forces, their switches."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .kinematics import relative
from .law import CLOSED, OPEN, SLOWEST_START, Points, no_points
from .rotation import cross, rotate
from .state import Memory

_JUST = 1e-12  # m or rad: a gap that is rounding


class Interactions(eqx.Module):
    """Forces of all laws at a state."""

    force: jax.Array  # (laws, 3) N, bearing on journal, global axes
    moment: jax.Array  # (laws, 3) N m on the journal about its own frame point, global axes
    wrench: jax.Array  # (2 laws, 6) on bearing and journal in turn, at the mass centres, global axes
    stored: jax.Array  # () J
    dissipated: jax.Array  # (kinds,) W
    internal_rate: jax.Array  # (internal,)
    normal: jax.Array  # (points,) N or N m


def body_indices(structure):
    """Bodies of the rows of `Interactions.wrench`."""
    return np.array([b for pair in structure.law_bodies for b in pair], dtype=np.int64)


def _sight(structure, model, moving, memory, k):
    """Relative motion at the connection of law k."""
    connection, (i, j) = structure.law_connections[k], structure.law_bodies[k]
    return relative(model, moving, i, j, connection, memory.spin[connection])


def _own(structure, k, points, internal):
    """A law's own memory and internal states."""
    a, b = structure.law_points[k]
    c, d = structure.law_internals[k]
    return jax.tree.map(lambda x: x[a:b], points), internal[c:d]


def act(structure, model, moving, memory, internal, t):
    """The `Interactions` at a state."""
    parts = [_act(structure, model, moving, memory, internal, t, k) for k in range(len(model.laws))]
    return Interactions(
        jnp.stack([p.force[0] for p in parts]),
        jnp.stack([p.moment[0] for p in parts]),
        jnp.concatenate([p.wrench for p in parts]),
        sum(p.stored for p in parts),
        sum(p.dissipated for p in parts),
        jnp.concatenate([p.internal_rate for p in parts]),
        jnp.concatenate([p.normal for p in parts]),
    )


def _act(structure, model, moving, memory, internal, t, k):
    """The `Interactions` of law k alone."""
    law = model.laws[k]
    points, states = _own(structure, k, memory.points, internal)

    def evaluated():
        effect = law.act(_sight(structure, model, moving, memory, k), points, states, t)
        connection, (i, j) = structure.law_connections[k], structure.law_bodies[k]
        axes = moving.orientation[i] @ model.bearing_axes[connection]
        force, on_bearing, on_journal = rotate(
            axes, jnp.stack([effect.force, effect.moment_bearing, effect.moment_journal])
        )
        arm_i = rotate(moving.orientation[i], model.bearing_point[connection])
        arm_j = rotate(moving.orientation[j], model.journal_point[connection])
        wrench = [
            jnp.concatenate([-force, on_bearing - cross(arm_i, force)]),
            jnp.concatenate([force, on_journal + cross(arm_j, force)]),
        ]
        return Interactions(
            force[None], on_journal[None], jnp.stack(wrench), effect.stored, effect.dissipated, effect.internal_rate,
            effect.normal,
        )  # fmt: skip

    def nothing():
        shapes = jax.eval_shape(evaluated)
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

    if not law.silent():
        return evaluated()
    return jax.lax.cond(jnp.any(points.mode != OPEN), evaluated, nothing)


def measure(structure, model, moving, memory):
    """Depth and rate of all contact points."""
    found = [law.measure(_sight(structure, model, moving, memory, k)) for k, law in enumerate(model.laws) if law.points]
    return tuple(jnp.concatenate(x) for x in zip(*found, strict=True))


def slips(structure, model, moving, memory):
    """Slip velocity of all contact points (points, 3); 0 where a law has no corners."""
    found = []
    for k, law in enumerate(model.laws):
        cornered = bool(law.corner_speeds())
        found.append(law.slips(_sight(structure, model, moving, memory, k)) if cornered else jnp.zeros((law.points, 3)))
    return jnp.concatenate(found)


def corner_speeds(structure, model):
    """Corner speeds of the friction at all contact points (points, corners), infinite where there are fewer."""
    rows = []
    for law in model.laws:
        own = law.corner_speeds()
        row = jnp.stack([jnp.asarray(v, dtype=float) for v in own] + [jnp.inf] * (structure.corners - len(own)))
        rows.append(jnp.where(law.cornered()[:, None], row, jnp.inf))
    return jnp.concatenate(rows)


def tolerances(structure, model):
    return jnp.concatenate([law.tolerance() for law in model.laws if law.points])


def at_switch(structure, model, internal, flipped):
    """Internal states after the points in `flipped` switched."""
    if not structure.internals:
        return internal
    parts = []
    for law, (a, b), (c, d) in zip(model.laws, structure.law_points, structure.law_internals, strict=True):
        parts.append(law.at_switch(internal[c:d], flipped[a:b]))
    return jnp.concatenate(parts)


def describe(mechanism):
    """The laws of a mechanism with the index of their connection."""
    found = []
    for c, connection in enumerate(mechanism.connections):
        found.extend((c, law) for law in connection.realisation.laws())
        found.extend((c, stop.law()) for stop in connection.stops)
    return found


def tables(mechanism, connection_bodies):
    """The static part of all laws, for `Structure`."""
    found = describe(mechanism)
    points = np.cumsum([0, *(law.points for _, law in found)])
    internals = np.cumsum([0, *(law.internal for _, law in found)])
    names = [c.name for c in mechanism.connections]
    returns = [law.returns() for _, law in found]
    return {
        "law_connections": tuple(c for c, _ in found),
        "law_bodies": tuple((int(connection_bodies[c][0]), int(connection_bodies[c][1])) for c, _ in found),
        "law_points": tuple((int(a), int(b)) for a, b in itertools.pairwise(points)),
        "law_internals": tuple((int(a), int(b)) for a, b in itertools.pairwise(internals)),
        "points": int(points[-1]),
        "internals": int(internals[-1]),
        "returns": np.concatenate(returns) if returns else np.zeros(0, dtype=bool),
        "corners": max((len(law.corner_speeds()) for _, law in found), default=0),
        "jumps": any(law.jumps() for _, law in found),
        "point_labels": tuple(f"{names[c]}: {n}" for c, law in found for n in law.point_names()),
        "point_connections": np.array([c for c, law in found for _ in range(law.points)], dtype=np.int64),
    }


def settled(structure, model, moving, memory):
    """Memory of a pose that the mechanism was put into: points with depth, or just touching, are in contact.

    A point that is in contact already keeps its speed at touch; a new one latches its rate (at least
    `law.SLOWEST_START`).
    """
    if not structure.points:
        return memory
    depth, rate = measure(structure, model, moving, memory)
    before = memory.points
    fresh = before.mode == OPEN
    # Just touching and not about to leave: as a touch in the run it would latch nearly nothing.
    touching = (depth > 0) | (depth > -_JUST) & (rate >= 0)
    mode = jnp.where(touching, jnp.where(fresh, CLOSED, before.mode), OPEN)
    inverse = jnp.where(fresh, 1.0 / jnp.maximum(jnp.abs(rate), SLOWEST_START), before.inverse_speed)
    inverse = jnp.where(mode == OPEN, 0.0, inverse)
    still = jax.lax.stop_gradient
    return Memory(memory.spin, Points(mode, inverse, still(depth), still(rate), before.fastest))


def at_start(structure, spin):
    """Memory before anything has touched."""
    return Memory(spin, no_points(structure.points))
