"""Dependent constraint rows: found by a rank-revealing factorisation at consistent configurations, then named."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from .compilation import compiled
from .constraints import rows_at
from .dynamics import unwhiten, whiten
from .kinematics import motion
from .state import Coordinates, Rates, displace

_RANK_TOLERANCE = 1e-8  # on rows scaled to unit length
_FEW_POSES, _RANDOM_POSES = 2, 12
_PERTURBATIONS = (0.3, 1.0, 0.1, 2.0)  # rad, or extents of the mechanism


@dataclasses.dataclass
class Redundancy:
    """Rows to leave out, and what to tell the user."""

    removed: list
    vacuous: list  # rows that vanish identically (a planar body's plane already fulfils them)
    undetermined: list  # rows, kept or removed, whose multiplier is not unique
    notes: tuple


def start_coordinates(model):
    """The guess that the bodies carry."""
    q = Coordinates(*(jnp.asarray(x) for x in (model.start_position, model.start_orientation, model.start_planar)))
    v = Rates(*(jnp.asarray(x) for x in (model.start_velocity, model.start_angular, model.start_planar_rate)))
    return q, v


def still(structure):
    return Rates(jnp.zeros((structure.spatial, 3)), jnp.zeros((structure.spatial, 3)), jnp.zeros((structure.planar, 3)))


@compiled
def _dense_rows(structure, model, q, t):
    """Residuals and whitened dense Jacobian of all rows."""
    moving = motion(model, q, still(structure))
    rows = rows_at(structure, model, moving, t)
    whitened, roots = whiten(structure, model, moving, rows)
    count, bodies = len(structure.row_bodies), structure.bodies
    dense = jnp.zeros((count + 1, bodies, 6))
    for_rows = np.minimum(structure.layout.slot_rows, count)
    dense = dense.at[for_rows, np.arange(bodies)[:, None]].add(whitened.slots)
    return rows.residual, dense[:count].reshape(count, 6 * bodies), roots


@compiled
def _moved(structure, model, q, roots, step, largest):
    """The pose after a whitened step; `largest` bounds the turn (rad) and the shift (in extents of the mechanism)."""
    parts = unwhiten(structure, model, roots, step.reshape(-1, 6))
    turn = jnp.max(jnp.abs(parts[1]), initial=0.0) + jnp.max(jnp.abs(parts[2][:, 2:]), initial=0.0)
    shift = jnp.max(jnp.abs(parts[0]), initial=0.0) + jnp.max(jnp.abs(parts[2][:, :2]), initial=0.0)
    size = jnp.maximum(turn, shift / _extent(model))
    factor = jnp.where(size > largest, largest / jnp.where(size > largest, size, 1.0), 1.0)
    return displace(q, Rates(*(factor * p for p in parts)))


def _consistent(structure, model, q, t, iterations=30):
    """Gauss-Newton with the pseudo-inverse: the rows may be dependent here. Returns q, residual norm, Jacobian."""
    for _ in range(iterations):
        residual, jacobian, roots = jax.tree.map(np.asarray, _dense_rows(structure, model, q, t))
        size = np.abs(residual).max(initial=0.0)
        if size < 1e-12:
            break
        step = -np.linalg.lstsq(jacobian, residual, rcond=_RANK_TOLERANCE)[0]
        q = _moved(structure, model, q, roots, step, 1.0)
    return q, size, jacobian, roots


def find_redundant(structure, model, t=0.0):
    """Rows that can be left out without changing the motion."""
    count = len(structure.row_bodies)
    if not count:
        return Redundancy([], [], [], ())
    q, size, jacobian, roots = _consistent(structure, model, start_coordinates(model)[0], t)
    jacobians = [jacobian]
    random = np.random.default_rng(0)
    if size < 1e-8:
        for k in range(_RANDOM_POSES):
            guess = _moved(structure, model, q, roots, 1e6 * _random_mobility(jacobian, random), _PERTURBATIONS[k % 4])
            _, miss, turned, _ = _consistent(structure, model, guess, t)
            if miss < 1e-8:
                jacobians.append(turned)
            if k + 1 == _FEW_POSES and all(_rank(j) == count for j in map(_unit_rows, jacobians)):
                return Redundancy([], [], [], ())
    scaled = [_unit_rows(j) for j in jacobians]
    vacuous = [r for r in range(count) if all(not j[r].any() for j in scaled)]
    rank = max(_rank(j) for j in scaled)
    dependences = [_dependences(j, vacuous) for j in scaled if _rank(j) == rank]
    removed = sorted([*vacuous, *_removable(dependences, _reluctance(structure))])
    undetermined = [r for r in range(count) if max(np.abs(n[r]).max(initial=0.0) for n in dependences) > 1e-6]
    return Redundancy(removed, vacuous, undetermined, _notes(structure, removed, vacuous, undetermined))


def _unit_rows(jacobian):
    lengths = np.linalg.norm(jacobian, axis=1, keepdims=True)
    tiny = lengths <= 1e-12 * lengths.max(initial=1e-300)
    return np.where(tiny, 0.0, jacobian / np.where(tiny, 1.0, lengths))


def _rank(jacobian):
    return int((np.linalg.svd(jacobian, compute_uv=False) > _RANK_TOLERANCE).sum())


def _random_mobility(jacobian, random):
    """A random whitened velocity that the constraints allow."""
    _, values, right = np.linalg.svd(_unit_rows(jacobian))
    free = right[int((values > _RANK_TOLERANCE).sum()) :]
    return free.T @ (free @ random.standard_normal(jacobian.shape[1]))


def _extent(model):
    """A length of the order of the mechanism."""
    arms = [jnp.max(jnp.abs(x), initial=0.0) for x in (model.bearing_point, model.journal_point)]
    return jnp.maximum(jnp.maximum(*arms), 1e-3)


def _reluctance(structure):
    """How much rather to keep a row: drivers and translational rows before rotational ones."""
    rotational = [label.split(": ", 1)[1].startswith(("tilt", "spin", "cross")) for label in structure.row_labels]
    return np.where(rotational, 1.0, 3.0)


def _dependences(rows, vacuous):
    """Orthonormal basis of the linear dependences between the rows (left null space), zero at vacuous rows."""
    left, values, _ = np.linalg.svd(rows)
    null = left[:, int((values > _RANK_TOLERANCE).sum()) :]
    live = np.array([r not in vacuous for r in range(len(rows))])
    basis, size, _ = np.linalg.svd(null * live[:, None], full_matrices=False)
    return basis[:, size > 0.5]


def _removable(dependences, reluctance):
    """Rows to leave out, one per dependence: those that take a large part in it at *every* pose looked at, so that
    the rows which stay do not become dependent somewhere else on the way."""
    removed = []
    rest = [n.copy() for n in dependences]
    for _ in range(dependences[0].shape[1]):
        share = np.min([np.linalg.norm(n, axis=1) for n in rest], axis=0) / reluctance
        share[removed] = 0.0
        row = int(np.argmax(share))
        removed.append(row)
        for k, n in enumerate(rest):
            direction = n[row] / np.linalg.norm(n[row])
            rest[k] = n - np.outer(n @ direction, direction)
    return removed


def _notes(structure, removed, vacuous, undetermined):
    extra = [r for r in removed if r not in vacuous]
    if not extra:
        return ()
    names = structure.connection_names
    touched = sorted({names[structure.row_connections[r]] for r in undetermined})
    rows = ", ".join(f"`{structure.row_labels[r]}`" for r in extra)
    return (
        f"{len(extra)} redundant constraint row(s) removed: {rows}. The motion is not affected, but the reactions in "
        f"{', '.join(touched)} are not determined by a rigid model (their channels are NaN; ask for "
        "`minimum_norm=True` to share the load). To get them, give a joint of the loop the play it really has: a "
        "cylindrical or spherical joint instead of a revolute, or a bushing.",
    )
