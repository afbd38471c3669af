"""Binding: the numbers of a mechanism, stacked for the kernel. Traceable, so every number can be differentiated."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import dense, rotation
from .array import namespace, stack, to_numpy
from .body import SpatialBody
from .element.gravity import total_gravity
from .interactions import describe
from .joint.rows import Custom, Dot, Length, Offset


class Model(eqx.Module):
    """All numbers of a system. Bodies are ordered spatial, planar, ground; vectors are in body axes."""

    start_position: jax.Array  # (spatial, 3) guess at t0
    start_orientation: jax.Array  # (spatial, 4)
    start_planar: jax.Array  # (planar, 3)
    start_velocity: jax.Array  # (spatial, 3)
    start_angular: jax.Array  # (spatial, 3) body axes
    start_planar_rate: jax.Array  # (planar, 3)
    mass: jax.Array  # (bodies,)
    inertia: jax.Array  # (spatial, 3, 3)
    inertia_factor: jax.Array  # (spatial, 3, 3) Cholesky factor of the inertia
    inertia_root: jax.Array  # (spatial, 3, 3) its inverse
    planar_inertia: jax.Array  # (planar,)
    origin: jax.Array  # (planar, 3)
    plane: jax.Array  # (planar, 3, 3) columns x, y, normal
    bearing_point: jax.Array  # (connections, 3)
    bearing_axes: jax.Array  # (connections, 3, 3) columns h, t, b
    journal_point: jax.Array  # (connections, 3)
    journal_axes: jax.Array  # (connections, 3, 3)
    arms: jax.Array  # (vectors, 3) every body-fixed vector the constraint rows use
    row_values: jax.Array  # (product rows,) right-hand side of Offset and Dot rows
    lengths: jax.Array  # (length rows,)
    custom: tuple  # row objects with derived derivatives
    signals: tuple  # prepared signals of the drivers
    loads: tuple  # bound force elements
    laws: tuple  # force laws between the sides of connections
    marker_point: jax.Array  # (markers, 3)
    marker_axes: jax.Array  # (markers, 3, 3)
    gravity: jax.Array  # (3,) m/s^2


def bodies_in_order(mechanism):
    """Spatial bodies first, then planar ones, each in the order of the mechanism."""
    spatial = [b for b in mechanism.bodies if isinstance(b, SpatialBody)]
    return spatial, [b for b in mechanism.bodies if not isinstance(b, SpatialBody)]


def _stack(parts, *shape):
    parts = list(parts)
    return stack(parts) if parts else np.zeros((0, *shape))


def _placements(mechanism, poses):
    """Points and axes of all connections, on bearing and journal, in body axes."""
    points, frames = [], []
    for connection in mechanism.connections:
        for side, body in (("bearing", connection.bearing), ("journal", connection.journal)):
            point, axes = getattr(connection.frame, side).in_body_axes(*poses[body])
            points.append(point)
            frames.append(axes)
    if not points:
        return np.zeros((0, 2, 3)), np.zeros((0, 2, 3, 3))
    return stack(points).reshape(-1, 2, 3), stack(frames).reshape(-1, 2, 3, 3)


def poses_at_start(mechanism):
    """Position and rotation matrix of every body at t0, by name."""
    poses = {body.name: body.place() for body in mechanism.bodies}
    poses["ground"] = (np.zeros(3), np.eye(3))
    return poses


def connection_rows(mechanism, poses):
    """The constraint rows of every connection, as objects."""
    rows = []
    for connection in mechanism.connections:
        frames = []
        for side, body in (("bearing", connection.bearing), ("journal", connection.journal)):
            _, axes = getattr(connection.frame, side).in_body_axes(*poses[body])
            frames.append(poses[body][1] @ axes)
        rows.append(connection.realisation.rows(*frames))
    return rows


class VectorTable:
    """Collects body-fixed vectors: frame points, frame axes and free vectors in frame axes, each stored once."""

    def __init__(self):
        self.entries = {("zero",): 0}
        self.bodies = [None]
        self.free = []

    def point(self, connection, side, body):
        return self._entry(("point", connection, side), body)

    def direction(self, connection, side, body, value):
        if isinstance(value, str):
            return self._entry(("axis", connection, side, "htb".index(value)), body)
        self.free.append((connection, side, value))
        return self._entry(("free", connection, side, len(self.free) - 1), body)

    def _entry(self, key, body):
        if key not in self.entries:
            self.entries[key] = len(self.entries)
            self.bodies.append(body)
        return self.entries[key]

    def sources(self, connections):
        """For each vector its place in [zero, points, axes, free vectors] laid end to end."""
        start_axes = 1 + 2 * connections
        start_free = start_axes + 6 * connections
        places = []
        for key in self.entries:
            if key[0] == "zero":
                places.append(0)
            elif key[0] == "point":
                places.append(1 + 2 * key[1] + key[2])
            elif key[0] == "axis":
                places.append(start_axes + (2 * key[1] + key[2]) * 3 + key[3])
            else:
                places.append(start_free + key[3])
        return np.array(places, dtype=np.int64)


def vectors(table_sources, points, frames, free):
    """Values of a `VectorTable`: gathers from the stacked points, frame axes (columns) and free vectors."""
    parts = [np.zeros((1, 3)), points.reshape(-1, 3), frames.swapaxes(-1, -2).reshape(-1, 3)]
    if free:
        axes = stack([frames[c, s] for c, s, _ in free])
        parts.append(rotation.rotate(axes, stack([v for _, _, v in free])))
    return namespace(*parts).concatenate(parts)[table_sources]


def bind(structure, mechanism):
    """The numbers of `mechanism` in the order of `structure`."""
    mechanism = to_numpy(mechanism)
    spatial, planar = bodies_in_order(mechanism)
    poses = poses_at_start(mechanism)
    points, frames = _placements(mechanism, poses)
    rows = connection_rows(mechanism, poses)
    flat = [(c, row) for c, group in enumerate(rows) for row in group]
    products = [(c, row) for c, row in flat if isinstance(row, Offset | Dot)]
    free = []
    for c, row in products:
        sides = ((0, row.direction),) if isinstance(row, Offset) else ((0, row.bearing), (1, row.journal))
        free.extend((c, side, value) for side, value in sides if not isinstance(value, str))
    orientation = _stack([b.orientation for b in spatial], 4)
    inertia = _stack([b.inertia for b in spatial], 3, 3)
    factor = _cholesky(inertia) if spatial else inertia
    masses = [b.mass for b in (*spatial, *planar)]
    turned = rotation.matrix(orientation) if spatial else np.zeros((0, 3, 3))
    markers = [m.placement.in_body_axes(*poses[m.body]) for m in mechanism.markers]
    index = {name: k for k, name in enumerate((*structure.body_names, "ground"))}
    connection_index = {c.name: k for k, c in enumerate(mechanism.connections)}
    return Model(
        start_position=_stack([b.position for b in spatial], 3),
        start_orientation=rotation.normalise(orientation) if spatial else orientation,
        start_planar=_stack([_append(b.position, b.angle) for b in planar], 3),
        start_velocity=_stack([b.velocity for b in spatial], 3),
        start_angular=rotation.unrotate(turned, _stack([b.angular_velocity for b in spatial], 3)),
        start_planar_rate=_stack([_append(b.velocity, b.angular_velocity) for b in planar], 3),
        mass=_stack(masses),
        inertia=inertia,
        inertia_factor=factor,
        inertia_root=_inverse_triangle(factor) if spatial else factor,
        planar_inertia=_stack([b.inertia for b in planar]),
        origin=_stack([b.origin for b in planar], 3),
        plane=_stack([b.plane() for b in planar], 3, 3),
        bearing_point=points[:, 0],
        bearing_axes=frames[:, 0],
        journal_point=points[:, 1],
        journal_axes=frames[:, 1],
        arms=vectors(structure.vector_sources, points, frames, free),
        row_values=_stack([row.value for _, row in products]),
        lengths=_stack([row.length for _, row in flat if isinstance(row, Length)]),
        custom=tuple(row for _, row in flat if isinstance(row, Custom)),
        signals=tuple(d.signal.prepared() for d in mechanism.drivers),
        loads=tuple(e.bind(Places(index, connection_index, mechanism, poses)) for e in mechanism.elements),
        laws=tuple(jax.tree.map(jnp.asarray, law) for _, law in describe(mechanism)),
        marker_point=_stack([p for p, _ in markers], 3),
        marker_axes=_stack([a for _, a in markers], 3, 3),
        gravity=total_gravity(mechanism.elements),
    )


def _append(vector, number):
    return namespace(vector, number).append(vector, number)


def _cholesky(inertia):
    return np.linalg.cholesky(inertia) if namespace(inertia) is np else dense.cholesky3(inertia)


def _inverse_triangle(factor):
    return np.linalg.inv(factor) if namespace(factor) is np else dense.inverse_lower3(factor)


class Places:
    """What an element needs to know when it is bound: indices of bodies and connections, and poses at t0."""

    def __init__(self, bodies, connections, mechanism, poses):
        self.bodies = bodies
        self.connections = connections
        self.poses = poses
        self.mechanism = mechanism

    def sides(self, connection):
        """Body indices (bearing, journal) of a connection."""
        c = self.mechanism.connections[self.connections[connection]]
        return self.bodies[c.bearing], self.bodies[c.journal]

    def all_bodies(self):
        """Names of the bodies that move, spatial first."""
        return [name for name in self.bodies if name != "ground"]
