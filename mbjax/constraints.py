"""Constraint rows at a pose: residual, Jacobian, velocity and acceleration terms, in twists of the two bodies.

Rows come in three kinds. Product rows `a . (s (r_j - r_i) + b - c) - value` (a fixed to one body, b and c to one each,
s = 1 for offsets and 0 for dot products) cover all perfect joints in one vectorised closed form; length rows are
distances; the rest (drivers, rows of the user) are derived automatically from their residual.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .kinematics import coordinate
from .rotation import cross, rotate


class Rows(eqx.Module):
    """Rows of one kind laid end to end; forces act along `jacobian` at the mass centres, in global axes."""

    residual: jax.Array  # (rows,) Phi
    jacobian: jax.Array  # (rows, 2, 6) derivative by (velocity, angular velocity) of either body, global axes
    velocity: jax.Array  # (rows,) nu: Phi_q v = nu, i.e. minus the explicit time derivative
    acceleration: jax.Array  # (rows,) gamma: Phi_q a = gamma


def rows_at(structure, model, moving, t):
    """All rows of the structure, kept or not."""
    parts = []
    if structure.product_bodies.shape[0]:
        parts.append(_product_rows(structure, model, moving))
    if structure.length_connections.shape[0]:
        parts.append(_length_rows(structure, model, moving))
    for driver, connection, name in zip(
        model.signals, structure.driver_connections, structure.driver_coordinates, strict=True
    ):
        parts.append(_derived(structure, model, moving, t, connection, _driven(driver, name)))
    for row, connection in zip(model.custom, structure.custom_connections, strict=True):
        parts.append(_derived(structure, model, moving, t, connection, row.residual))
    if not parts:
        return Rows(jnp.zeros(0), jnp.zeros((0, 2, 6)), jnp.zeros(0), jnp.zeros(0))
    return parts[0] if len(parts) == 1 else jax.tree.map(lambda *x: jnp.concatenate(x), *parts)


def _product_rows(structure, model, moving):
    bodies = structure.vector_bodies
    spin = moving.angular[bodies]
    arms = rotate(moving.orientation[bodies], model.arms)
    arm_rate = cross(spin, arms)
    arm_turn = cross(spin, arm_rate)
    ia, ib, ic = structure.product_vectors.T
    i, j = structure.product_bodies.T
    slides = structure.product_slides[:, None]
    a, b, c = arms[ia], arms[ib], arms[ic]
    d = slides * (moving.position[j] - moving.position[i]) + b - c
    d_rate = slides * (moving.velocity[j] - moving.velocity[i]) + arm_rate[ib] - arm_rate[ic]
    d_turn = arm_turn[ib] - arm_turn[ic]
    along = slides * a
    jacobian = jnp.stack(
        [jnp.concatenate([-along, cross(a, d + c)], axis=-1), jnp.concatenate([along, cross(b, a)], axis=-1)], axis=1
    )
    gamma = -jnp.sum(arm_turn[ia] * d + 2 * arm_rate[ia] * d_rate + a * d_turn, axis=-1)
    residual = jnp.sum(a * d, axis=-1) - model.row_values
    return Rows(residual, jacobian, jnp.zeros_like(residual), gamma)


def _length_rows(structure, model, moving):
    which = structure.length_connections
    i, j = structure.connection_bodies[which].T
    arm_i = rotate(moving.orientation[i], model.bearing_point[which])
    arm_j = rotate(moving.orientation[j], model.journal_point[which])
    spin_i, spin_j = moving.angular[i], moving.angular[j]
    rate_i, rate_j = cross(spin_i, arm_i), cross(spin_j, arm_j)
    d = moving.position[j] + arm_j - moving.position[i] - arm_i
    d_rate = moving.velocity[j] + rate_j - moving.velocity[i] - rate_i
    d_turn = cross(spin_j, rate_j) - cross(spin_i, rate_i)
    length = model.lengths[:, None]
    along = d / length
    jacobian = jnp.stack(
        [
            jnp.concatenate([-along, cross(along, arm_i)], axis=-1),
            jnp.concatenate([along, cross(arm_j, along)], axis=-1),
        ],
        axis=1,
    )
    residual = (jnp.sum(d * along, axis=-1) - model.lengths) / 2
    gamma = -jnp.sum(d_rate * d_rate + d * d_turn, axis=-1) / model.lengths
    return Rows(residual, jacobian, jnp.zeros_like(residual), gamma)


def _driven(signal, name):
    angular = name in ("spin", "tilt_h", "tilt_t")

    def residual(displacement, rotation, t):
        value = coordinate(name, displacement, rotation) - signal(t)
        if angular:
            value = value - 2 * jnp.pi * jax.lax.stop_gradient(jnp.round(value / (2 * jnp.pi)))
        return value

    return residual


def _derived(structure, model, moving, t, connection, residual):
    """Rows from their residual alone: Jacobian by reverse mode, gamma by two nested directional derivatives."""
    i, j = (int(b) for b in structure.connection_bodies[connection])
    s_i, s_j = model.bearing_point[connection], model.journal_point[connection]
    e_i, e_j = model.bearing_axes[connection], model.journal_axes[connection]
    t = jnp.asarray(t, dtype=float)

    def phi(pose, time):
        r_i, turn_i, r_j, turn_j = pose
        frame = turn_i @ e_i
        value = residual(frame.T @ (r_j + turn_j @ s_j - r_i - turn_i @ s_i), frame.T @ turn_j @ e_j, time)
        return jnp.atleast_1d(value)

    def flow(pose):
        _, turn_i, _, turn_j = pose
        return (
            moving.velocity[i],
            cross(moving.angular[i], turn_i.T).T,
            moving.velocity[j],
            cross(moving.angular[j], turn_j.T).T,
        )

    def rate(pose, time):
        return jax.jvp(phi, (pose, time), (flow(pose), jnp.ones_like(time)))[1]

    pose = (moving.position[i], moving.orientation[i], moving.position[j], moving.orientation[j])
    value, pull = jax.vjp(lambda p: phi(p, t), pose)
    (grad_i, turn_i, grad_j, turn_j) = jax.vmap(lambda e: pull(e)[0])(jnp.eye(value.shape[0]))

    def moment(orientation, slope):
        return jnp.sum(cross(jnp.swapaxes(orientation, -1, -2), jnp.swapaxes(slope, -1, -2)), axis=-2)

    jacobian = jnp.stack(
        [
            jnp.concatenate([grad_i, moment(pose[1], turn_i)], axis=-1),
            jnp.concatenate([grad_j, moment(pose[3], turn_j)], axis=-1),
        ],
        axis=1,
    )
    explicit = jax.jvp(lambda time: phi(pose, time), (t,), (jnp.ones_like(t),))[1]
    second = jax.jvp(rate, (pose, t), (flow(pose), jnp.ones_like(t)))[1]
    return Rows(value, jacobian, -explicit, -second)


def scatter_dense(structure, rows, bodies):
    """The Jacobian as a dense matrix (rows, 6 bodies), columns (velocity, angular velocity) in global axes."""
    sides = structure.row_bodies
    dense = jnp.zeros((sides.shape[0], bodies + 1, 6))
    index = np.arange(sides.shape[0])
    dense = dense.at[index, sides[:, 0]].add(rows.jacobian[:, 0])
    dense = dense.at[index, sides[:, 1]].add(rows.jacobian[:, 1])
    return dense[:, :bodies].reshape(sides.shape[0], 6 * bodies)
