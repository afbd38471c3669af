"""Consistent initial states: the guess is projected onto Phi = 0 and Phi_q v = nu, with the user's values honoured."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import dense, schur
from .array import is_concrete
from .compilation import compiled
from .connection import COORDINATES
from .constraints import rows_at
from .dynamics import body_speeds, in_solver_order, unwhiten, whiten, whiten_wrenches
from .errors import ModelError, SimulationError, did_you_mean
from .interactions import at_start, settled
from .kinematics import coordinate, coordinate_gradient, motion, relative
from .redundancy import start_coordinates
from .rotation import cross, rotate
from .smooth import unwrap
from .state import Rates, State, displace, no_account, spoiled

_NEWTON_STEPS = 20
_TOLERANCE = 1e-10


class Target(eqx.Module):
    """One quantity that the initial state must have: a joint coordinate, or a component of a body."""

    kind: str = eqx.field(static=True)  # joint | position | planar
    index: int = eqx.field(static=True)
    component: str = eqx.field(static=True)


def initial_state(system, positions=None, speeds=None, *, t0=0.0, throw=True):
    """A state that satisfies all constraints, closest (in the mass metric) to the guess of the bodies.

    `positions` and `speeds` hold joint coordinates or body components, e.g. `{"A.spin": 0.3}`, `{"A.spin": 6.0}`;
    they are added to those of `mechanism.start`. Traceable and differentiable; under a transformation a failure shows
    as NaN in every entry instead of an exception (`throw` acts on concrete values).
    """
    start = system.mechanism.start
    positions = {**start.positions, **(positions or {})}
    speeds = {**start.speeds, **(speeds or {})}
    targets = tuple(_target(system.structure, name) for name in positions)
    speed_targets = tuple(_target(system.structure, name) for name in speeds)
    state, miss, speed_miss = _project(
        system.structure,
        system.model,
        targets,
        speed_targets,
        _array(positions),
        _array(speeds),
        jnp.asarray(t0, float),
    )
    bad = ~((miss < _TOLERANCE) & (speed_miss < _TOLERANCE))
    if throw and is_concrete(bad) and bad:
        raise SimulationError(_report(system, state, positions, speeds, t0))
    return spoiled(bad, state)


def connection_residuals(system, state, t=0.0):
    """Largest constraint residual (m or rad) of every connection and driver, by name."""
    residual = np.abs(np.asarray(_residuals(system.structure, system.model, state, jnp.asarray(t, dtype=float))))
    worst = {}
    for label, value in zip(system.structure.row_labels, residual, strict=True):
        name = label.split(": ")[0]
        worst[name] = max(worst.get(name, 0.0), float(value))
    return worst


@compiled
def _residuals(structure, model, state, t):
    return rows_at(structure, model, motion(model, state.q, state.v), t).residual


def _report(system, state, positions, speeds, t):
    worst = sorted(connection_residuals(system, state, t).items(), key=lambda item: -item[1])
    lines = ["No consistent initial state found from the guess. Residual per connection (m or rad):"]
    lines += [f"  {name}: {value:.3e}" for name, value in worst]
    if positions or speeds:
        wanted = ", ".join(f"{k} = {float(v):g}" for k, v in {**positions, **speeds}.items())
        lines.append(f"Held values: {wanted}. They may contradict each other or the joints.")
    lines.append("Give the bodies a better guess (position, orientation) or hold fewer values.")
    return "\n".join(lines)


def _array(named):
    return jnp.stack([jnp.asarray(v, dtype=float) for v in named.values()]) if named else jnp.zeros(0)


def _target(structure, name):
    part, _, component = name.partition(".")
    if part in structure.connection_names:
        if component not in COORDINATES:
            raise ModelError(
                f"Initial value `{name}`: `{component}` is not a joint coordinate."
                f"{did_you_mean(component, COORDINATES)} Known: {', '.join(COORDINATES)}."
            )
        return Target("joint", structure.connection_names.index(part), component)
    if part in structure.body_names:
        k = structure.body_names.index(part)
        spatial = k < structure.spatial
        known = ("position.x", "position.y", "position.z") if spatial else ("x", "y", "angle")
        if component not in known:
            speeds = " Speeds are named by what they change." if "velocity" in component else ""
            raise ModelError(f"Initial value `{name}`: a body has {', '.join(known)}, not `{component}`.{speeds}")
        return Target("position" if spatial else "planar", k if spatial else k - structure.spatial, component)
    known = (*structure.connection_names, *structure.body_names)
    raise ModelError(
        f"Initial value `{name}`: no connection or body `{part}`.{did_you_mean(part, known)} Known: {', '.join(known)}."
    )


def _target_rows(structure, model, moving, targets):
    """Wrench rows (targets, bodies, 6) whose power is the rate of each target."""
    rows = []
    for target in targets:
        row = jnp.zeros((structure.bodies + 1, 6))
        if target.kind == "joint":
            c = target.index
            i, j = (int(b) for b in structure.connection_bodies[c])
            rel = relative(model, moving, i, j, c)
            force, moment = coordinate_gradient(target.component, rel)
            frame = moving.orientation[i] @ model.bearing_axes[c]
            arm = rotate(moving.orientation[j], model.journal_point[c])
            force, moment = frame @ force, frame @ moment
            reach = moving.position[j] + arm - moving.position[i]
            row = row.at[i].add(jnp.concatenate([-force, -cross(reach, force) - moment]))
            row = row.at[j].add(jnp.concatenate([force, cross(arm, force) + moment]))
        elif target.kind == "position":
            row = row.at[target.index, "xyz".index(target.component[-1])].add(1.0)
        else:
            plane = jnp.asarray(model.plane)[target.index]
            k = ("x", "y", "angle").index(target.component)
            part = jnp.concatenate([jnp.zeros(3), plane[:, 2]] if k == 2 else [plane[:, k], jnp.zeros(3)])
            row = row.at[structure.spatial + target.index].add(part)
        rows.append(row[: structure.bodies])
    return jnp.stack(rows) if rows else jnp.zeros((0, structure.bodies, 6))


def _target_values(structure, model, q, moving, targets):
    values = []
    for target in targets:
        if target.kind == "joint":
            i, j = (int(b) for b in structure.connection_bodies[target.index])
            rel = relative(model, moving, i, j, target.index)
            values.append(coordinate(target.component, rel.displacement, rel.rotation))
        elif target.kind == "position":
            values.append(q.position[target.index, "xyz".index(target.component[-1])])
        else:
            values.append(q.planar[target.index, ("x", "y", "angle").index(target.component)])
    return jnp.stack(values) if values else jnp.zeros(0)


def _angular(targets):
    return np.array([t.kind == "joint" and t.component in ("spin", "tilt", "tilt_h", "tilt_t") for t in targets], bool)


def _solve_with_targets(structure, model, moving, rows, targets, miss, target_miss):
    """Smallest whitened twist x with J x = -miss and targets x = -target_miss (dense, tolerant of dependent rows)."""
    whitened, roots = whiten(structure, model, moving, rows)
    layout = structure.layout
    extra = _target_rows(structure, model, moving, targets)
    extra = jnp.swapaxes(whiten_wrenches(structure, model, roots, jnp.swapaxes(extra, 0, 1)), 0, 1)
    if not layout.size and not targets:
        return jnp.zeros((structure.bodies, 6)), roots
    full = _full(structure, whitened)
    matrix = jnp.concatenate([full, extra.reshape(len(targets), 6 * structure.bodies)])
    right = -jnp.concatenate([miss, target_miss])
    scale = jnp.sum(matrix * matrix, axis=-1)
    scale = jax.lax.rsqrt(jnp.where(scale > 0, scale, 1.0))
    unit = matrix * scale[:, None]
    gram = unit @ unit.T
    factor = dense.cholesky(jax.lax.stop_gradient(gram) + 1e-12 * jnp.eye(gram.shape[0]))

    def refined(product, b):
        x = jnp.zeros_like(b)
        for _ in range(3):
            x = x + dense.backward(factor, dense.forward(factor, b - product(x)))
        return x

    lam = jax.lax.custom_linear_solve(lambda x: gram @ x, right * scale, refined, symmetric=True)
    return (unit.T @ lam).reshape(structure.bodies, 6), roots


def _full(structure, whitened):
    layout = structure.layout
    kept = len(layout.order)
    full = jnp.zeros((kept + 1, structure.bodies, 6))
    rows = np.minimum(layout.slot_rows, kept)
    full = full.at[rows, np.arange(structure.bodies)[:, None]].add(whitened.slots)
    return full[:kept].reshape(kept, 6 * structure.bodies)


@compiled
def _project(structure, model, targets, speed_targets, values, speeds, t):
    q, v = start_coordinates(model)
    kept = len(structure.layout.order)
    angular = _angular(targets)

    def misses(q):
        moving = motion(model, q, v)
        rows = rows_at(structure, model, moving, t)
        off = _target_values(structure, model, q, moving, targets) - values
        turns = jnp.round(off / (2 * jnp.pi)) * angular
        return moving, rows, in_solver_order(structure, rows.residual)[:kept], off - 2 * jnp.pi * turns

    def newton(q, _):
        moving, rows, miss, off = misses(q)
        step, roots = _solve_with_targets(structure, model, moving, rows, targets, miss, off)
        parts = unwhiten(structure, model, roots, step)
        # A step turns no body by more than about one radian: the linearisation says nothing beyond that.
        turn = jnp.maximum(jnp.max(jnp.abs(parts[1]), initial=0.0), jnp.max(jnp.abs(parts[2][:, 2:]), initial=0.0))
        damp = jax.lax.stop_gradient(jnp.where(turn > 1.0, 1.0 / jnp.where(turn > 1.0, turn, 1.0), 1.0))
        return displace(q, Rates(*(damp * p for p in parts))), None

    q, _ = jax.lax.scan(newton, q, None, length=_NEWTON_STEPS if kept or targets else 0)
    moving, rows, _, off = misses(q)
    whitened, roots = whiten(structure, model, moving, rows)
    twist = body_speeds(structure, model, moving, roots, v)
    drift = schur.to_rows(structure.layout, whitened, twist)[:kept] - in_solver_order(structure, rows.velocity)[:kept]
    target_rows = _target_rows(structure, model, moving, speed_targets)
    rates_now = jnp.einsum(
        "rnc,nc->r",
        target_rows,
        jnp.concatenate([moving.velocity, moving.angular], axis=-1)[: structure.bodies],
    )
    step, roots = _solve_with_targets(structure, model, moving, rows, speed_targets, drift, rates_now - speeds)
    parts = unwhiten(structure, model, roots, step)
    v = jax.tree.map(lambda a, b: a + b, v, type(v)(*parts))
    moving = motion(model, q, v)
    twist = body_speeds(structure, model, moving, roots, v)
    drift = schur.to_rows(structure.layout, whitened, twist)[:kept] - in_solver_order(structure, rows.velocity)[:kept]
    after = jnp.einsum(
        "rnc,nc->r", target_rows, jnp.concatenate([moving.velocity, moving.angular], axis=-1)[: structure.bodies]
    )
    # The rows that were left out count too: they must be fulfilled by themselves.
    position_miss = jnp.max(jnp.abs(jnp.concatenate([rows.residual, off])), initial=0.0)
    scale = 1.0 + jnp.max(jnp.abs(speeds), initial=0.0) + jnp.max(jnp.abs(twist), initial=0.0)
    speed_miss = jnp.max(jnp.abs(jnp.concatenate([drift, after - speeds])), initial=0.0) / scale
    spin = unwrap(spins(structure, model, moving), _wanted_spins(structure, targets, values))
    memory = settled(structure, model, moving, at_start(structure, spin))
    state = State(q, v, jnp.zeros(structure.internals), memory, no_account())
    return state, position_miss, speed_miss


def _wanted_spins(structure, targets, values):
    """The spin that was asked for, which may be several turns; zero elsewhere."""
    wanted = jnp.zeros(len(structure.connection_names))
    for k, target in enumerate(targets):
        if target.kind == "joint" and target.component == "spin":
            wanted = wanted.at[target.index].set(jax.lax.stop_gradient(values[k]))
    return wanted


def spins(structure, model, moving):
    """Wrapped spin of every connection."""
    if not structure.connection_names:
        return jnp.zeros(0)
    i, j = structure.connection_bodies.T
    rel = relative(model, moving, i, j)
    return coordinate("spin", rel.displacement, rel.rotation)
