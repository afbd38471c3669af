"""Newton-Euler equations with multipliers, index 1 (P1 1-4): accelerations and multipliers of a state.

M a = g + J^T lambda, J a = gamma. The papers write M a + Phi_q^T lambda = g, so lambda here is minus theirs and
J^T lambda is the force that the connections exert.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from . import dense, forces, schur
from .constraints import rows_at
from .kinematics import motion
from .rotation import cross


class Solution(eqx.Module):
    """Accelerations of all bodies and what holds them on their constraints."""

    velocity_rate: jax.Array  # (spatial, 3) m/s^2
    angular_rate: jax.Array  # (spatial, 3) rad/s^2, body axes
    planar_rate: jax.Array  # (planar, 3)
    multipliers: jax.Array  # (padded solver rows,)
    rotor_multipliers: jax.Array  # (rotors,)


def mass_root(structure, model, moving):
    """Functions x -> M^-1/2 x for stacks of global wrenches (bodies, ..., 6), as matrices (bodies, 3, 3) twice.

    Planar bodies have a singular inverse mass: what points out of their plane does nothing.
    """
    n = structure.spatial
    bodies = structure.bodies
    root = jax.lax.rsqrt(jnp.asarray(model.mass))
    angular = []
    if n:
        angular.append(jnp.einsum("nij,nkj->nik", model.inertia_root, moving.orientation[:n]))
    if structure.planar:
        normal = jnp.asarray(model.plane)[..., 2]
        angular.append(
            normal[:, :, None] * normal[:, None, :] * jax.lax.rsqrt(jnp.asarray(model.planar_inertia))[:, None, None]
        )
    angular = jnp.concatenate(angular) if bodies else jnp.zeros((0, 3, 3))
    return root, angular


def whiten_wrenches(structure, model, roots, vectors):
    """M^-1/2 applied to (bodies, k, 6)."""
    root, angular = roots
    linear = vectors[..., :3] * root[:, None, None]
    if structure.planar:
        n = structure.spatial
        normal = jnp.asarray(model.plane)[..., 2]
        flat = linear[n:] - jnp.einsum("nkc,nc,nd->nkd", linear[n:], normal, normal)
        linear = jnp.concatenate([linear[:n], flat])
    return jnp.concatenate([linear, jnp.einsum("nkc,ndc->nkd", vectors[..., 3:], angular)], axis=-1)


def whiten(structure, model, moving, rows):
    """The constraint Jacobian of the kept rows in solver form."""
    layout = structure.layout
    roots = mass_root(structure, model, moving)
    slots = whiten_wrenches(structure, model, roots, schur.gather_slots(layout, rows.jacobian))
    return schur.Whitened(slots, jnp.asarray(layout.padding).reshape(-1)), roots


def in_solver_order(structure, per_row):
    """Kept rows of a per-row quantity, padded."""
    layout = structure.layout
    kept = per_row[layout.order]
    return jnp.concatenate([kept, jnp.zeros(layout.blocks * layout.size - kept.shape[0])])


def unwhiten(structure, model, roots, twist):
    """M^-1/2 applied to a whitened force (bodies, 6): rates in the coordinates of each body kind."""
    n = structure.spatial
    linear = twist[:, :3] * roots[0][:, None]
    angular = jnp.einsum("nji,nj->ni", model.inertia_root, twist[:n, 3:]) if n else jnp.zeros((0, 3))
    if structure.planar:
        plane = jnp.asarray(model.plane)
        flat = jnp.einsum("nc,ncd->nd", linear[n:], plane[..., :2])
        turn = jnp.einsum("nc,nc->n", twist[n:, 3:], plane[..., 2]) * jax.lax.rsqrt(jnp.asarray(model.planar_inertia))
        planar = jnp.concatenate([flat, turn[:, None]], axis=-1)
    else:
        planar = jnp.zeros((0, 3))
    return linear[:n], angular, planar


def accelerations(structure, model, q, v, internal, memory, t, stabilise=None):
    """Solve the equations of motion; also returns the pieces that energy accounting needs."""
    moving = motion(model, q, v)
    rows = rows_at(structure, model, moving, t)
    applied = forces.total(structure, model, moving, memory, internal, t)
    whitened, roots = whiten(structure, model, moving, rows)
    n = structure.spatial
    free = whiten_wrenches(structure, model, roots, applied.wrench[:, None, :])[:, 0]
    if n:
        momentum = jnp.einsum("nij,nj->ni", model.inertia, v.angular)
        gyroscopic = jnp.einsum("nij,nj->ni", model.inertia_root, cross(v.angular, momentum))
        turn = free[:, 3:] - (
            gyroscopic if n == structure.bodies else jnp.pad(gyroscopic, ((0, structure.planar), (0, 0)))
        )
        free = jnp.concatenate([free[:, :3], turn], axis=-1)
    gamma = in_solver_order(structure, rows.acceleration)
    if stabilise is not None:
        speed = body_speeds(structure, model, moving, roots, v)
        drift = schur.to_rows(structure.layout, whitened, speed) - in_solver_order(structure, rows.velocity)
        gamma = gamma + stabilise(in_solver_order(structure, rows.residual), drift)
    right = gamma - schur.to_rows(structure.layout, whitened, free)
    if applied.rotor_rows.shape[0]:
        lam, rotor, total = _with_rotors(structure, model, moving, roots, whitened, free, right, applied)
    else:
        rotor = jnp.zeros(0)
        if structure.layout.size:
            lam = schur.solve(structure.layout, whitened, right)
            total = free + schur.to_bodies(structure.layout, whitened, lam)
        else:
            lam, total = right, free
    rates = unwhiten(structure, model, roots, total)
    return Solution(*rates, lam, rotor), moving, rows, applied


def body_speeds(structure, model, moving, roots, v):
    """Whitened velocities M^1/2 v (bodies, 6), so that J v = to_rows(...)."""
    n = structure.spatial
    mass = jnp.sqrt(jnp.asarray(model.mass))
    linear = moving.velocity[: structure.bodies] * mass[:, None]
    angular = []
    if n:
        angular.append(jnp.einsum("nji,nj->ni", model.inertia_factor, v.angular))
    if structure.planar:
        angular.append(moving.angular[n : structure.bodies] * jnp.sqrt(jnp.asarray(model.planar_inertia))[:, None])
    return jnp.concatenate([linear, jnp.concatenate(angular)], axis=-1)


def _with_rotors(structure, model, moving, roots, whitened, free, right, applied):
    """Reflected rotor inertia I on a joint coordinate: a row with its own compliance,
    (J_r M^-1 J_r^T + 1/I) mu = gamma_r - J_r a, scaled by sqrt(I); solved on top of the constraints."""
    rotor_slots = whiten_wrenches(
        structure, model, roots, jnp.swapaxes(applied.rotor_rows, 0, 1)
    )  # (bodies, rotors, 6)
    strength = jnp.sqrt(applied.rotor_inertia)
    rotor_slots = rotor_slots * strength[None, :, None]

    def constrain(twist):
        """Remove what the constraints forbid from a whitened twist."""
        if not structure.layout.size:
            return twist, jnp.zeros(0)
        lam = schur.solve(structure.layout, whitened, -schur.to_rows(structure.layout, whitened, twist))
        return twist + schur.to_bodies(structure.layout, whitened, lam), lam

    if structure.layout.size:
        lam0 = schur.solve(structure.layout, whitened, right)
        start = free + schur.to_bodies(structure.layout, whitened, lam0)
    else:
        lam0, start = right, free
    columns, column_lams = jax.vmap(constrain, in_axes=1, out_axes=(1, 0))(rotor_slots)
    response = jnp.einsum("nrc,nsc->rs", rotor_slots, columns)
    count = response.shape[0]
    target = applied.rotor_gamma * strength - jnp.einsum("nrc,nc->r", rotor_slots, start)
    mu = dense.solver(response + jnp.eye(count))(target)
    total = start + jnp.einsum("nrc,r->nc", columns, mu)
    return lam0 + column_lams.T @ mu, mu * strength, total


def rates_of(solution):
    """The velocity part of the state's derivative, flat."""
    return jnp.concatenate(
        [solution.velocity_rate.reshape(-1), solution.angular_rate.reshape(-1), solution.planar_rate.reshape(-1)]
    )
