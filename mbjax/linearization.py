"""Linearisation about an equilibrium: eigenfrequencies, modes, damping, frequency response."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import schur
from .compilation import compiled
from .constraints import rows_at
from .dynamics import accelerations, body_speeds, in_solver_order, unwhiten, whiten
from .element import AppliedForce, JointForce
from .errors import ModelError
from .initial import spins
from .kinematics import motion
from .observe import find_channel, snapshot
from .smooth import unwrap
from .state import Memory, Rates, State, displace, no_account
from .system import System

_PROJECTIONS = 3


class Linearization(eqx.Module):
    """m y'' + c y' + k y = input, in independent coordinates y (the mass metric makes m the identity).

    `frequencies` are those of the undamped system (rad/s, NaN where it is unstable), `damping_ratios` the modal ones,
    `modes` the columns of y. All three are differentiable where frequencies are distinct; the complex `eigenvalues`
    of the damped system are exact but not differentiable.
    """

    system: System
    state: State
    basis: jax.Array  # (6 bodies, n) whitened displacement of each coordinate
    mass: jax.Array  # (n, n)
    damping: jax.Array  # (n, n)
    stiffness: jax.Array  # (n, n)
    residual: jax.Array  # () largest acceleration left: zero at an equilibrium
    time: jax.Array

    def _modal(self):
        factor = jnp.linalg.cholesky(self.mass)
        half = jax.scipy.linalg.solve_triangular(factor, 0.5 * (self.stiffness + self.stiffness.T), lower=True)
        square = jax.scipy.linalg.solve_triangular(factor, half.T, lower=True)
        values, vectors = jnp.linalg.eigh(0.5 * (square + square.T))
        return values, jax.scipy.linalg.solve_triangular(factor, vectors, lower=True, trans=1)

    @property
    def frequencies(self):
        """Undamped angular frequencies, ascending, rad/s."""
        values = self._modal()[0]
        good = values > 0
        return jnp.where(good, jnp.sqrt(jnp.where(good, values, 1.0)), jnp.nan)

    @property
    def modes(self):
        """Mode shapes (n, n) in the coordinates y, one column each, of unit modal mass."""
        return self._modal()[1]

    @property
    def damping_ratios(self):
        """Modal damping ratios, phi^T c phi / (2 omega)."""
        modes = self.modes
        return jnp.einsum("ij,ik,kj->j", modes, self.damping, modes) / (2 * self.frequencies)

    @property
    def eigenvalues(self):
        """Complex eigenvalues of the damped system, 1/s."""
        n = self.mass.shape[0]
        inverse = np.linalg.inv(np.asarray(self.mass))
        upper = np.concatenate([np.zeros((n, n)), np.eye(n)], axis=1)
        lower = np.concatenate([-inverse @ self.stiffness, -inverse @ self.damping], axis=1)
        return np.linalg.eigvals(np.concatenate([upper, lower]))

    def frequency_response(self, load, channel, frequencies):
        """Complex response of `channel` to a harmonic unit signal of the element `load`, at `frequencies` (Hz).

        `load` names an AppliedForce or JointForce; `channel` a position or joint coordinate.
        """
        element = self.system.mechanism[load]
        if not isinstance(element, AppliedForce | JointForce):
            raise ModelError(f"frequency_response: `{load}` is a {type(element).__name__}; name an applied force.")
        structure, model = self.system.structure, self.system.model
        bound = model.loads[structure.element_names.index(load)]
        bound = eqx.tree_at(lambda e: e.signal, bound, _unit, is_leaf=lambda x: x is bound.signal)
        moving = motion(model, self.state.q, self.state.v)
        index, wrench = bound.wrenches(model, moving, self.state.memory, self.time)
        force = jnp.zeros((structure.bodies + 1, 6)).at[np.asarray(index)].add(wrench)[: structure.bodies]
        twist = jax.vmap(lambda b: _twist(structure, model, moving, b), in_axes=1)(self.basis)
        right = jnp.einsum("nbc,bc->n", twist, force)
        take = find_channel(structure, channel).take

        def observed(y):
            state = _state_of(structure, model, self.state, self.basis, y, jnp.zeros_like(y), self.time)
            return take(snapshot(self.system, state, self.time))

        left = jax.jacfwd(observed)(jnp.zeros(self.mass.shape[0]))

        def at(frequency):
            w = 2 * jnp.pi * frequency
            dynamic = self.stiffness - w * w * self.mass + 1j * w * self.damping
            return left @ jnp.linalg.solve(dynamic, right.astype(complex))

        return jax.vmap(at)(jnp.asarray(frequencies, dtype=float))


def _unit(t):
    return jnp.ones_like(t)


def linearize(system, state, *, t=0.0):
    """Linearise the free motion about an equilibrium `state` (at rest)."""
    if system.structure.internals:
        raise ModelError(
            "linearize: this mechanism has laws with internal states (bristles or branches of a bushing); their part "
            "in the response is not built. `bushing_rig` gives a bushing's dynamic stiffness."
        )
    t = jnp.asarray(t, dtype=float)
    return Linearization(system, state, *_linearize(system.structure, system.model, state, t), t)


def _twist(structure, model, moving, whitened):
    """Global twist (bodies, 6) of a whitened displacement."""
    _, roots = whiten(structure, model, moving, rows_at(structure, model, moving, 0.0))
    linear, angular, planar = unwhiten(structure, model, roots, whitened.reshape(structure.bodies, 6))
    n = structure.spatial
    velocity, spin = [linear], [jnp.einsum("nij,nj->ni", moving.orientation[:n], angular)]
    if structure.planar:
        plane = jnp.asarray(model.plane)
        velocity.append(jnp.einsum("ncd,nd->nc", plane[..., :2], planar[:, :2]))
        spin.append(plane[..., 2] * planar[:, 2:])
    return jnp.concatenate([jnp.concatenate(velocity), jnp.concatenate(spin)], axis=-1)


def _projected(structure, model, q, v, t):
    """Positions and velocities put on the constraints by a few Newton corrections (differentiable throughout)."""
    layout = structure.layout
    if not layout.size:
        return q, v
    for _ in range(_PROJECTIONS):
        moving = motion(model, q, v)
        rows = rows_at(structure, model, moving, t)
        whitened, roots = whiten(structure, model, moving, rows)
        lam = schur.solve(layout, whitened, in_solver_order(structure, rows.residual))
        q = displace(q, Rates(*unwhiten(structure, model, roots, -schur.to_bodies(layout, whitened, lam))))
    moving = motion(model, q, v)
    rows = rows_at(structure, model, moving, t)
    whitened, roots = whiten(structure, model, moving, rows)
    drift = schur.to_rows(layout, whitened, body_speeds(structure, model, moving, roots, v))
    lam = schur.solve(layout, whitened, drift - in_solver_order(structure, rows.velocity))
    change = unwhiten(structure, model, roots, -schur.to_bodies(layout, whitened, lam))
    return q, Rates(v.velocity + change[0], v.angular + change[1], v.planar + change[2])


def _state_of(structure, model, state, basis, y, rate, t):
    """The state displaced by y with speed `rate`, on the constraints."""
    moving = motion(model, state.q, state.v)
    _, roots = whiten(structure, model, moving, rows_at(structure, model, moving, t))
    shift = Rates(*unwhiten(structure, model, roots, (basis @ y).reshape(structure.bodies, 6)))
    speed = Rates(*unwhiten(structure, model, roots, (basis @ rate).reshape(structure.bodies, 6)))
    q, v = _projected(structure, model, displace(state.q, shift), speed, t)
    moving = motion(model, q, v)
    spin = unwrap(spins(structure, model, moving), state.memory.spin)
    return State(q, v, state.internal, Memory(spin, state.memory.points), no_account())


def _basis(structure, model, state, t):
    """Orthonormal whitened directions that constraints (and the planes of planar bodies) leave free."""
    moving = motion(model, state.q, state.v)
    whitened, _ = whiten(structure, model, moving, rows_at(structure, model, moving, t))
    kept = len(structure.layout.order)
    eye = jnp.eye(6 * structure.bodies).reshape(-1, structure.bodies, 6)
    jacobian = jax.vmap(lambda x: schur.to_rows(structure.layout, whitened, x))(eye).T[:kept]
    blocked = [jacobian]
    for k in range(structure.planar):
        plane = jnp.asarray(model.plane)[k]
        rows = jnp.zeros((3, structure.bodies, 6))
        b = structure.spatial + k
        rows = rows.at[0, b, :3].set(plane[:, 2]).at[1, b, 3:].set(plane[:, 0]).at[2, b, 3:].set(plane[:, 1])
        blocked.append(rows.reshape(3, -1))
    matrix = jax.lax.stop_gradient(jnp.concatenate(blocked))
    _, _, right = jnp.linalg.svd(matrix, full_matrices=True)
    return right[matrix.shape[0] :].T


@compiled
def _linearize(structure, model, state, t):
    basis = _basis(structure, model, state, t)
    n = basis.shape[1]
    zero = jnp.zeros(n)

    def speed(rate):
        here = _state_of(structure, model, state, basis, zero, rate, t)
        moving = motion(model, here.q, here.v)
        _, roots = whiten(structure, model, moving, rows_at(structure, model, moving, t))
        return body_speeds(structure, model, moving, roots, here.v).reshape(-1)

    pattern = jax.jacfwd(speed)(zero)  # whitened velocity of each coordinate, on the constraints
    mass = pattern.T @ pattern

    def force(y, rate):
        here = _state_of(structure, model, state, basis, y, rate, t)
        solution, moving, _, _ = accelerations(structure, model, here.q, here.v, here.internal, here.memory, t)
        rates = Rates(solution.velocity_rate, solution.angular_rate, solution.planar_rate)
        _, roots = whiten(structure, model, moving, rows_at(structure, model, moving, t))
        # Whitened acceleration, as body_speeds makes it of a velocity.
        whole = body_speeds(structure, model, motion(model, here.q, rates), roots, rates)
        return pattern.T @ whole.reshape(-1)

    stiffness = -jax.jacfwd(force, argnums=0)(zero, zero)
    damping = -jax.jacfwd(force, argnums=1)(zero, zero)
    return basis, mass, damping, stiffness, jnp.max(jnp.abs(force(zero, zero)), initial=0.0)
