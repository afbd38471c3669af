"""Statics: equilibrium, and paths of equilibria as in a kinematics-and-compliance rig."""

import equinox as eqx
import jax
import jax.numpy as jnp

from .array import is_concrete
from .compilation import compiled
from .constraints import rows_at
from .dynamics import in_solver_order, unwhiten, whiten, whiten_wrenches
from .errors import ModelError, SimulationError, did_you_mean
from .forces import total
from .initial import initial_state, spins
from .interactions import at_start, settled
from .kinematics import motion
from .redundancy import still
from .schur import to_rows
from .smooth import unwrap
from .state import Rates, State, displace, no_account, spoiled
from .stepping.progress import NO_EQUILIBRIUM, SUCCESS
from .trajectory import Result, Statistics, Trajectory

_DESCENT_STEPS, _NEWTON_STEPS = 40, 6
_TOLERANCE = 1e-9  # residual acceleration over the largest acceleration that single forces would cause
_FLAT = 1e-9


def equilibrium(system, state=None, *, t=0.0, throw=True):
    """A state of rest in which all forces balance, near `state` (default: the initial state).

    Goes downhill in potential energy, so that it finds stable equilibria, then polishes with Newton steps on the
    force balance. Directions without stiffness stay where they are. Differentiable by the implicit function theorem;
    with `throw=False` or under a transformation a failure shows as NaN.
    """
    state = initial_state(system, t0=t) if state is None else state
    found, miss = _settle(system.structure, system.model, state, jnp.asarray(t, dtype=float))
    bad = ~(miss < _TOLERANCE)
    if throw and is_concrete(bad) and bad:
        raise SimulationError(
            f"No equilibrium of `{system.mechanism.name}` found near the given state: relative force residual "
            f"{float(miss):.2e}. Something may be able to run away (a spring missing?), or start closer."
        )
    return spoiled(bad, found)


def quasi_static(system, drivers, state=None, *, throw=True):
    """A path of equilibria while drivers are moved: `{"motor": [0.0, 0.1, 0.2]}` holds driver `motor` at each value.

    Returns a trajectory over the step number. All drivers that are not named keep their value at t = 0.
    """
    names = system.structure.driver_names
    for name in drivers:
        if name not in names:
            raise ModelError(
                f"quasi_static: no driver `{name}`.{did_you_mean(name, names)} Drivers: {', '.join(names)}."
            )
    values = [jnp.asarray(v, dtype=float) for v in drivers.values()]
    count = len(values[0]) if values else 1
    if any(v.shape != (count,) for v in values):
        raise ModelError("quasi_static: give a list of values for every driver, all of the same length.")
    held = dict(zip(drivers, values, strict=True))
    signals = tuple(
        _Held(held[name] if name in held else jnp.broadcast_to(signal(0.0), (count,)))
        for name, signal in zip(names, system.model.signals, strict=True)
    )
    system = eqx.tree_at(lambda s: s.model.signals, system, signals, is_leaf=lambda x: x is system.model.signals)
    state = initial_state(system) if state is None else state
    ts = jnp.arange(count, dtype=float)

    def advance(state, t):
        found, miss = _settle(system.structure, system.model, state, t)
        bad = ~(miss < _TOLERANCE)
        return found, (spoiled(bad, found), miss)

    _, (states, misses) = jax.lax.scan(advance, state, ts)
    failed = ~(misses < _TOLERANCE)
    zero = jnp.array(0)
    first = jnp.argmax(failed)
    result = Result(jnp.where(jnp.any(failed), NO_EQUILIBRIUM, SUCCESS), jnp.where(jnp.any(failed), ts[first], ts[-1]))
    if throw and is_concrete(failed) and failed.any():
        raise SimulationError(f"quasi_static: no equilibrium at step {int(first)} of {count}.")
    return Trajectory(system, ts, states, result, Statistics(zero, zero, zero))


class _Held(eqx.Module):
    """A signal that stands still at the k-th value at time k."""

    values: jax.Array

    def __call__(self, t):
        k = jnp.clip(jnp.round(t).astype(int), 0, self.values.shape[0] - 1)
        return self.values[k] + jnp.zeros_like(t)


def _at_rest(structure, model, q, memory):
    v = still(structure)
    moving = motion(model, q, v)
    memory = settled(
        structure, model, moving, at_start(structure, unwrap(spins(structure, model, moving), memory.spin))
    )
    return State(q, v, jnp.zeros(structure.internals), memory, no_account())


def _balance(structure, model, q, memory, t):
    """Whitened applied forces, whitened Jacobian (dense) and residuals of the kept rows at rest; roots of the masses,
    and the largest of the forces that act, whitened."""
    moving = motion(model, q, still(structure))
    rows = rows_at(structure, model, moving, t)
    whitened, roots = whiten(structure, model, moving, rows)
    kept = len(structure.layout.order)
    touching = settled(structure, model, moving, at_start(structure, memory.spin))
    applied = total(structure, model, moving, touching, jnp.zeros(structure.internals), t)
    force = whiten_wrenches(structure, model, roots, applied.wrench[:, None, :])[:, 0]
    eye = jnp.eye(6 * structure.bodies).reshape(-1, structure.bodies, 6)
    jacobian = jax.vmap(lambda x: to_rows(structure.layout, whitened, x))(eye).T[:kept]
    size = jax.lax.stop_gradient(whiten_wrenches(structure, model, roots, applied.sizes[:, None, :]))
    return force.reshape(-1), jacobian, in_solver_order(structure, rows.residual)[:kept], roots, jnp.max(jnp.abs(size))


def _move(structure, model, q, roots, step):
    parts = unwhiten(structure, model, roots, step.reshape(structure.bodies, 6))
    turn = jnp.maximum(jnp.max(jnp.abs(parts[1]), initial=0.0), jnp.max(jnp.abs(parts[2][:, 2:]), initial=0.0))
    return displace(q, Rates(*(jnp.where(turn > 0.5, 0.5 / jnp.where(turn > 0.5, turn, 1.0), 1.0) * p for p in parts)))


def _bare(structure, z):
    """A displacement vector (one entry per velocity) as rates."""
    n, k = structure.spatial, structure.planar
    return Rates(z[: 3 * n].reshape(n, 3), z[3 * n : 6 * n].reshape(n, 3), z[6 * n :].reshape(k, 3))


def _pinv(matrix):
    return jnp.linalg.pinv(matrix, rtol=_FLAT)


@compiled
def _settle(structure, model, state, t):
    q, memory = state.q, state.memory
    size = 6 * structure.spatial + 3 * structure.planar

    def downhill(q, _):
        force, jacobian, residual, roots, _ = _balance(structure, model, q, memory, t)
        inverse = _pinv(jacobian)
        lam = -inverse.T @ force
        projector = jnp.eye(force.shape[0]) - inverse @ jacobian

        def pull(step):
            moved = _move_exactly(structure, model, q, roots, step)
            f, j, *_ = _balance(structure, model, moved, memory, t)
            return f + j.T @ lam

        stiffness = -jax.jacfwd(pull)(jnp.zeros_like(force))
        reduced = projector @ (0.5 * (stiffness + stiffness.T)) @ projector
        values, vectors = jnp.linalg.eigh(reduced)
        strong = jnp.abs(values) > _FLAT * jnp.max(jnp.abs(values))
        inverse_values = jnp.where(strong, 1.0 / jnp.where(strong, jnp.abs(values), 1.0), 0.0)
        step = vectors @ (inverse_values * (vectors.T @ (projector @ force))) - inverse @ residual
        return _move(structure, model, q, roots, step), None

    base = jax.lax.stop_gradient(jax.lax.scan(downhill, q, None, length=_DESCENT_STEPS)[0])

    def balance(z):
        """Accelerations (zero at equilibrium) and constraint residuals, as a function of displacement and lambda."""
        here = displace(base, _bare(structure, z[:size]))
        force, jacobian, residual, roots, _ = _balance(structure, model, here, memory, t)
        whole = (force + jacobian.T @ z[size:]).reshape(structure.bodies, 6)
        rates = unwhiten(structure, model, roots, whole)
        return jnp.concatenate([*(r.reshape(-1) for r in rates), residual])

    def newton(f, z):
        def step(z, _):
            return z - _pinv(jax.jacfwd(f)(z)) @ f(z), None

        return jax.lax.scan(step, z, None, length=_NEWTON_STEPS)[0]

    def tangent(g, y):
        return _pinv(jax.jacfwd(g)(jnp.zeros_like(y))) @ y

    force, jacobian, *_ = _balance(structure, model, base, memory, t)
    guess = jax.lax.stop_gradient(jnp.concatenate([jnp.zeros(size), -_pinv(jacobian).T @ force]))
    z = jax.lax.custom_root(balance, guess, newton, tangent)
    here = displace(base, _bare(structure, z[:size]))
    force, jacobian, residual, _, largest = _balance(structure, model, here, memory, t)
    # Where applied forces balance each other, what is left of them is no measure.
    scale = largest + jnp.max(jnp.abs(jacobian), initial=0.0) * jnp.max(jnp.abs(z[size:]), initial=0.0)
    whole = force + jacobian.T @ z[size:]
    miss = jnp.max(jnp.abs(whole)) / jnp.where(scale > 0, scale, 1.0)
    miss = jnp.maximum(miss, jnp.max(jnp.abs(residual), initial=0.0))
    return _at_rest(structure, model, here, memory), jax.lax.stop_gradient(miss)


def _move_exactly(structure, model, q, roots, step):
    return displace(q, Rates(*unwhiten(structure, model, roots, step.reshape(structure.bodies, 6))))
