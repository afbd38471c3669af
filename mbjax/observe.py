"""What can be read off a state: poses, joint coordinates, accelerations, reactions, energies, constraint violation."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import interactions, smooth
from .compilation import compiled
from .connection import COORDINATES
from .dynamics import accelerations, body_speeds, in_solver_order, whiten
from .errors import did_you_mean
from .kinematics import coordinate_and_rate, relative
from .law import KINDS, OPEN
from .rotation import cross, rotate, unrotate
from .schur import to_rows


class Snapshot(eqx.Module):
    """Everything that can be observed at one time (or, with a leading axis, at many)."""

    position: jax.Array  # (bodies, 3) m
    orientation: jax.Array  # (bodies, 3, 3)
    velocity: jax.Array  # (bodies, 3) m/s
    angular: jax.Array  # (bodies, 3) rad/s, global
    acceleration: jax.Array  # (bodies, 3) m/s^2
    angular_acceleration: jax.Array  # (bodies, 3) rad/s^2, global
    parameters: jax.Array  # (spatial, 4) Euler parameters
    planar: jax.Array  # (planar, 3) x, y, angle
    planar_rate: jax.Array  # (planar, 3)
    planar_acceleration: jax.Array  # (planar, 3)
    coordinates: jax.Array  # (connections, 8) in the order of COORDINATES
    coordinate_rates: jax.Array  # (connections, 8)
    reaction: jax.Array  # (connections, 3) N, bearing on journal, global axes
    reaction_moment: jax.Array  # (connections, 3) N m about the bearing's frame point, global axes
    joint_reaction: jax.Array  # (connections, 3) the same in bearing frame axes h, t, b
    joint_reaction_moment: jax.Array  # (connections, 3)
    driver_force: jax.Array  # (drivers,) N or N m
    kinetic: jax.Array  # () J
    potential: jax.Array  # () J
    dissipated: jax.Array  # (kinds,) J since the start, in the order of `law.KINDS`
    supplied: jax.Array  # () J since the start
    element_stored: jax.Array  # (elements,) J
    element_power: jax.Array  # (elements,) W dissipated
    point_depth: jax.Array  # (points,) m or rad, of all contact points
    point_closed: jax.Array  # (points,) 1 in contact, 0 open
    marker_position: jax.Array  # (markers, 3)
    marker_velocity: jax.Array
    marker_acceleration: jax.Array
    marker_angular: jax.Array  # (markers, 3) rad/s global
    marker_axes: jax.Array  # (markers, 3, 3)
    gravity: jax.Array  # (markers, 3) m/s^2 global
    violation: jax.Array  # () largest |Phi|, m or rad
    velocity_violation: jax.Array  # () largest |Phi_q v - nu|


def snapshot(system, state, t, *, minimum_norm=False):
    """Observe one state. Traceable and differentiable."""
    structure, model = system.structure, system.model
    solution, moving, rows, applied = accelerations(structure, model, state.q, state.v, state.internal, state.memory, t)
    bodies = structure.bodies
    linear, angular = _global_accelerations(structure, model, moving, solution)
    force, moment, driver = _reactions(structure, model, moving, rows, solution, minimum_norm)
    if model.laws:
        acting = interactions.act(structure, model, moving, state.memory, state.internal, t)
        own = np.array(structure.law_connections)
        lever = _journal_from_bearing(structure, model, moving)[own]
        force = force.at[own].add(acting.force)
        moment = moment.at[own].add(acting.moment + cross(lever, acting.force))
    depth = interactions.measure(structure, model, moving, state.memory)[0] if structure.points else jnp.zeros(0)
    coordinates, coordinate_rates, frames = _coordinates(structure, model, moving, state.memory)
    whitened, roots = whiten(structure, model, moving, rows)
    speed = body_speeds(structure, model, moving, roots, state.v)
    drift = to_rows(structure.layout, whitened, speed) - in_solver_order(structure, rows.velocity)
    loads = [(load.stored, load.dissipated) for load in model.loads]
    stored = [f(model, moving, state.memory, t) for f, _ in loads]
    power = [f(model, moving, state.memory, t) for _, f in loads]
    markers = structure.marker_bodies
    arms = rotate(moving.orientation[markers], model.marker_point)
    spin = moving.angular[markers]
    padded = jnp.concatenate([linear, np.zeros((1, 3))]), jnp.concatenate([angular, np.zeros((1, 3))])
    return Snapshot(
        moving.position[:bodies], moving.orientation[:bodies], moving.velocity[:bodies], moving.angular[:bodies],
        linear, angular, state.q.orientation, state.q.planar, state.v.planar, solution.planar_rate,
        coordinates, coordinate_rates, force, moment, unrotate(frames, force), unrotate(frames, moment), driver,
        0.5 * jnp.sum(speed * speed), applied.stored, state.account.dissipated, state.account.supplied,
        jnp.stack(stored) if stored else jnp.zeros(0), jnp.stack(power) if power else jnp.zeros(0),
        depth, jnp.where(state.memory.points.mode != OPEN, 1.0, 0.0),
        moving.position[markers] + arms,
        moving.velocity[markers] + cross(spin, arms),
        padded[0][markers] + cross(padded[1][markers], arms) + cross(spin, cross(spin, arms)),
        spin,
        moving.orientation[markers] @ model.marker_axes,
        jnp.broadcast_to(model.gravity, (len(markers), 3)),
        jnp.max(jnp.abs(rows.residual), initial=0.0), jnp.max(jnp.abs(drift), initial=0.0),
    )  # fmt: skip


def _global_accelerations(structure, model, moving, solution):
    n = structure.spatial
    linear = [solution.velocity_rate] if n else []
    angular = [rotate(moving.orientation[:n], solution.angular_rate)] if n else []
    if structure.planar:
        plane = jnp.asarray(model.plane)
        linear.append(jnp.einsum("ncd,nd->nc", plane[..., :2], solution.planar_rate[:, :2]))
        angular.append(plane[..., 2] * solution.planar_rate[:, 2:])
    return jnp.concatenate(linear), jnp.concatenate(angular)


def _reactions(structure, model, moving, rows, solution, minimum_norm):
    """Sums over the rows of each connection; NaN where a dependent row makes them arbitrary."""
    count = len(structure.row_labels)
    multipliers = jnp.zeros(count).at[structure.layout.order].set(solution.multipliers[: len(structure.layout.order)])
    if minimum_norm and structure.undetermined:
        multipliers = _share(structure, rows, multipliers)
    journal = rows.jacobian[:, 1] * multipliers[:, None]
    start, drivers = structure.driver_rows
    wrench = jnp.zeros((len(structure.connection_names), 6)).at[structure.row_connections].add(journal)
    if not minimum_norm:
        lost = np.zeros(len(structure.connection_names), dtype=bool)
        lost[structure.row_connections[list(structure.undetermined)]] = True
        wrench = jnp.where(lost[:, None], jnp.nan, wrench)
    i, j = structure.connection_bodies.reshape(-1, 2).T
    base = moving.position[i] + rotate(moving.orientation[i], model.bearing_point)
    force = wrench[:, :3]
    moment = wrench[:, 3:] + cross(moving.position[j] - base, force)
    return force, moment, multipliers[start : start + drivers]


def _journal_from_bearing(structure, model, moving):
    """From the bearing's to the journal's frame point of every connection, global axes."""
    i, j = structure.connection_bodies.reshape(-1, 2).T
    ends = [
        moving.position[b] + rotate(moving.orientation[b], p)
        for b, p in ((i, model.bearing_point), (j, model.journal_point))
    ]
    return ends[1] - ends[0]


def _share(structure, rows, multipliers):
    """Multipliers of all rows with the same effect and the smallest norm."""
    bodies = structure.bodies
    sides = structure.row_bodies
    index = np.arange(len(sides))
    dense = jnp.zeros((len(sides), bodies + 1, 6))
    dense = dense.at[index, sides[:, 0]].add(rows.jacobian[:, 0]).at[index, sides[:, 1]].add(rows.jacobian[:, 1])
    dense = dense[:, :bodies].reshape(len(sides), -1)
    return jnp.linalg.lstsq(dense.T, dense.T @ multipliers, rcond=1e-9)[0]


def _coordinates(structure, model, moving, memory):
    if not structure.connection_names:
        return jnp.zeros((0, 8)), jnp.zeros((0, 8)), jnp.zeros((0, 3, 3))
    i, j = structure.connection_bodies.T
    rel = relative(model, moving, i, j)
    values, rates = zip(*(coordinate_and_rate(name, rel) for name in COORDINATES), strict=True)
    values = list(values)
    k = COORDINATES.index("spin")
    values[k] = smooth.unwrap(values[k], memory.spin)
    return jnp.stack(values, axis=-1), jnp.stack(rates, axis=-1), moving.orientation[i] @ model.bearing_axes


@compiled
def snapshots(system, states, ts, minimum_norm=False):
    """Observe a stack of states."""
    return jax.vmap(lambda s, t: snapshot(system, s, t, minimum_norm=minimum_norm))(states, ts)


_XYZ = ("x", "y", "z")
_HTB = ("h", "t", "b")
_BODY = {
    "position": ("position", _XYZ, "m"),
    "velocity": ("velocity", _XYZ, "m/s"),
    "acceleration": ("acceleration", _XYZ, "m/s^2"),
    "angular_velocity": ("angular", _XYZ, "rad/s"),
    "angular_acceleration": ("angular_acceleration", _XYZ, "rad/s^2"),
}
_MARKER = {
    "position": ("marker_position", _XYZ, "m"),
    "velocity": ("marker_velocity", _XYZ, "m/s"),
    "acceleration": ("marker_acceleration", _XYZ, "m/s^2"),
    "angular_velocity": ("marker_angular", _XYZ, "rad/s"),
    "gravity": ("gravity", _XYZ, "m/s^2"),
}
_ENERGY = ("total", "kinetic", "potential", "dissipated", "supplied", "balance")


class Channel(eqx.Module):
    """A named scalar over time: how to take it from a snapshot, and its unit."""

    name: str = eqx.field(static=True)
    unit: str = eqx.field(static=True)
    take: object = eqx.field(static=True)


def channels(structure):
    """All channels of a system by name."""
    found = {}

    def add(name, unit, take):
        found[name] = Channel(name, unit, take)

    for k, body in enumerate(structure.body_names):
        for group, (field, parts, unit) in _BODY.items():
            for c, part in enumerate(parts):
                add(f"{body}.{group}.{part}", unit, lambda s, f=field, k=k, c=c: getattr(s, f)[..., k, c])
        if k < structure.spatial:
            for c in range(4):
                add(f"{body}.orientation.e{c}", "1", lambda s, k=k, c=c: s.parameters[..., k, c])
            for c, part in enumerate(_XYZ):
                add(
                    f"{body}.body_rate.{part}", "rad/s",
                    lambda s, k=k, c=c: jnp.sum(s.orientation[..., k, :, c] * s.angular[..., k, :], axis=-1),
                )  # fmt: skip
        else:
            p = k - structure.spatial
            for group, field, unit in (
                ("", "planar", ""),
                ("_rate", "planar_rate", "/s"),
                ("_acceleration", "planar_acceleration", "/s^2"),
            ):
                for c, part in enumerate(("x", "y", "angle")):
                    base = "rad" if part == "angle" else "m"
                    add(f"{body}.{part}{group}", base + unit, lambda s, f=field, p=p, c=c: getattr(s, f)[..., p, c])
    for k, joint in enumerate(structure.connection_names):
        for c, name in enumerate(COORDINATES):
            unit = "m" if name.startswith(("axial", "radial")) else "rad"
            add(f"{joint}.{name}", unit, lambda s, k=k, c=c: s.coordinates[..., k, c])
            add(f"{joint}.{name}_rate", f"{unit}/s", lambda s, k=k, c=c: s.coordinate_rates[..., k, c])
        apart = np.array([COORDINATES.index(name) for name in ("axial", "radial_h", "radial_t")])
        add(f"{joint}.distance", "m", lambda s, k=k, apart=apart: smooth.norm(s.coordinates[..., k, apart]))
        for group, unit in (("reaction", "N"), ("reaction_moment", "N m")):
            for c in range(3):
                add(f"{joint}.{group}.{_XYZ[c]}", unit, lambda s, g=group, k=k, c=c: getattr(s, g)[..., k, c])
                add(
                    f"{joint}.{group}.{_HTB[c]}", unit, lambda s, g=group, k=k, c=c: getattr(s, f"joint_{g}")[..., k, c]
                )
        own = np.flatnonzero(structure.point_connections == k)
        if own.size:
            add(f"{joint}.penetration", "m or rad", lambda s, own=own: jnp.max(s.point_depth[..., own], axis=-1))
            add(f"{joint}.touching", "1", lambda s, own=own: jnp.sum(s.point_closed[..., own], axis=-1))
    for k, (driver, name) in enumerate(zip(structure.driver_names, structure.driver_coordinates, strict=True)):
        unit = "N" if name.startswith(("axial", "radial")) else "N m"
        add(f"{driver}.force", unit, lambda s, k=k: s.driver_force[..., k])
    for k, element in enumerate(structure.element_names):
        add(f"{element}.stored", "J", lambda s, k=k: s.element_stored[..., k])
        add(f"{element}.dissipated_power", "W", lambda s, k=k: s.element_power[..., k])
    for k, marker in enumerate(structure.marker_names):
        for group, (field, parts, unit) in _MARKER.items():
            for c, part in enumerate(parts):
                add(f"{marker}.{group}.{part}", unit, lambda s, f=field, k=k, c=c: getattr(s, f)[..., k, c])
                if group != "position":
                    add(
                        f"{marker}.{group}_local.{part}", unit,
                        lambda s, f=field, k=k, c=c: jnp.sum(
                            s.marker_axes[..., k, :, c] * getattr(s, f)[..., k, :], axis=-1
                        ),
                    )  # fmt: skip
    for name in _ENERGY:
        add(f"energy.{name}", "J", lambda s, n=name: energy(s, n))
    if structure.law_connections:
        for k, kind in enumerate(KINDS):
            add(f"energy.dissipated_{kind}", "J", lambda s, k=k: s.dissipated[..., k])
    add("constraints.violation", "m or rad", lambda s: s.violation)
    add("constraints.velocity_violation", "1/s", lambda s: s.velocity_violation)
    return found


def energy(s, name):
    """Energies: `balance` = kinetic + potential + dissipated - supplied, constant in an exact solution."""
    if name in ("kinetic", "potential", "supplied"):
        return getattr(s, name)
    dissipated = jnp.sum(s.dissipated, axis=-1)
    total = s.kinetic + s.potential
    return {"dissipated": dissipated, "total": total, "balance": total + dissipated - s.supplied}[name]


def find_channel(structure, name):
    known = channels(structure)
    if name not in known:
        part = name.split(".")[0]
        near = [k for k in known if k.startswith(part + ".")]
        listing = f" Channels of `{part}`: {', '.join(near)}." if near else f" Parts: {', '.join(_parts(known))}."
        raise KeyError(f"No channel `{name}`.{did_you_mean(name, known)}{listing}")
    return known[name]


def _parts(known):
    return dict.fromkeys(name.split(".")[0] for name in known)
