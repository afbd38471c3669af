"""Where every body is and how it moves, in global axes; relative motion at a connection (P1 11-19)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import rotation, smooth


class Motion(eqx.Module):
    """Pose and velocity of all bodies (spatial, planar, then ground as the last entry), in global axes."""

    position: jax.Array  # (n + 1, 3) m
    orientation: jax.Array  # (n + 1, 3, 3) body to global
    velocity: jax.Array  # (n + 1, 3) m/s
    angular: jax.Array  # (n + 1, 3) rad/s


def motion(model, q, v):
    """Pose and velocity of all bodies from the coordinates."""
    spatial = q.position.shape[0] > 0
    planar = q.planar.shape[0] > 0
    positions, orientations, velocities, angulars = [], [], [], []
    if spatial:
        turn = rotation.matrix(q.orientation)
        positions.append(q.position)
        orientations.append(turn)
        velocities.append(v.velocity)
        angulars.append(rotation.rotate(turn, v.angular))
    if planar:
        plane = model.plane
        c, s = jnp.cos(q.planar[:, 2]), jnp.sin(q.planar[:, 2])
        x, y, n = plane[..., 0], plane[..., 1], plane[..., 2]
        positions.append(model.origin + q.planar[:, :1] * x + q.planar[:, 1:2] * y)
        orientations.append(jnp.stack([c[:, None] * x + s[:, None] * y, c[:, None] * y - s[:, None] * x, n], axis=-1))
        velocities.append(v.planar[:, :1] * x + v.planar[:, 1:2] * y)
        angulars.append(v.planar[:, 2:] * n)
    zero = np.zeros((1, 3))
    return Motion(
        jnp.concatenate([*positions, zero]),
        jnp.concatenate([*orientations, np.eye(3)[None]]),
        jnp.concatenate([*velocities, zero]),
        jnp.concatenate([*angulars, zero]),
    )


class Relative(eqx.Module):
    """Relative motion at connections, in bearing frame axes (h, t, b)."""

    displacement: jax.Array  # (..., 3) journal point from bearing point, m
    rotation: jax.Array  # (..., 3, 3) journal axes in bearing axes
    velocity: jax.Array  # (..., 3) rate of the displacement as seen from the bearing, m/s
    angular: jax.Array  # (..., 3) angular velocity of journal relative to bearing, rad/s
    carrier: jax.Array  # (..., 3) angular velocity of the bearing itself, rad/s
    wound: jax.Array  # (...) unwrapped spin at the last step end, rad


def relative(model, moving, bearing, journal, which=slice(None), wound=0.0):
    """Relative motion at the connections `which` (all by default); `bearing`, `journal` are body indices."""
    point_i, point_j = model.bearing_point[which], model.journal_point[which]
    axes_i, axes_j = model.bearing_axes[which], model.journal_axes[which]
    turn_i, turn_j = moving.orientation[bearing], moving.orientation[journal]
    arm_i, arm_j = rotation.rotate(turn_i, point_i), rotation.rotate(turn_j, point_j)
    frame_i, frame_j = turn_i @ axes_i, turn_j @ axes_j
    gap = moving.position[journal] + arm_j - moving.position[bearing] - arm_i
    speed = (
        moving.velocity[journal]
        + rotation.cross(moving.angular[journal], arm_j)
        - moving.velocity[bearing]
        - rotation.cross(moving.angular[bearing], arm_i + gap)
    )
    return Relative(
        rotation.unrotate(frame_i, gap),
        jnp.einsum("...ji,...jk->...ik", frame_i, frame_j),
        rotation.unrotate(frame_i, speed),
        rotation.unrotate(frame_i, moving.angular[journal] - moving.angular[bearing]),
        rotation.unrotate(frame_i, moving.angular[bearing]),
        jnp.asarray(wound),
    )


def coordinate(name, displacement, turn):
    """A joint coordinate of relative displacement and rotation (both in bearing axes), metres or radians.

    `spin` is wrapped to (-pi, pi]; P1's arcsin (17, 19) folds at 90 degrees, the two-argument arctangent does not.
    """
    if name == "axial":
        return displacement[..., 2]
    if name == "radial_h":
        return displacement[..., 0]
    if name == "radial_t":
        return displacement[..., 1]
    if name == "radial":
        return smooth.norm(displacement[..., :2])
    if name == "spin":
        return smooth.angle(turn[..., 1, 0], turn[..., 0, 0])
    if name == "tilt_h":
        return smooth.angle(-turn[..., 1, 2], turn[..., 2, 2])
    if name == "tilt_t":
        return smooth.angle(turn[..., 0, 2], turn[..., 2, 2])
    if name == "tilt":
        return smooth.angle(smooth.norm(turn[..., :2, 2]), turn[..., 2, 2])
    raise ValueError(f"`{name}` is not a joint coordinate.")


def coordinate_and_rate(name, rel):
    """A joint coordinate and its rate; the rate follows from the derivative of the coordinate."""
    turn_rate = rotation.cross(rel.angular[..., None, :], jnp.swapaxes(rel.rotation, -1, -2))
    return jax.jvp(
        lambda d, c: coordinate(name, d, c),
        (rel.displacement, rel.rotation),
        (rel.velocity, jnp.swapaxes(turn_rate, -1, -2)),
    )


def coordinate_gradient(name, rel):
    """Generalised directions of a coordinate: force on the journal and moment on it per unit generalised force, in
    bearing axes."""
    value, pull = jax.vjp(lambda d, c: coordinate(name, d, c), rel.displacement, rel.rotation)
    force, turn = pull(jnp.ones_like(value))
    moment = jnp.sum(rotation.cross(jnp.swapaxes(rel.rotation, -1, -2), jnp.swapaxes(turn, -1, -2)), axis=-2)
    return force, moment
