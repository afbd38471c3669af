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
_FREE = 1e-10  # of the largest squared frequency: rounding of a stiffness of zero


class Internal(eqx.Module):
    """How internal states z take part: z' = by_place y + by_speed y' + by_itself z, and their force on y."""

    force: jax.Array  # (n, internals)
    by_place: jax.Array  # (internals, n)
    by_speed: jax.Array  # (internals, n)
    by_itself: jax.Array  # (internals, internals)

    def stiffness(self, s):
        """What they add to the dynamic stiffness (n, n) at e^(s t)."""
        own = s * jnp.eye(self.by_itself.shape[0]) - self.by_itself
        return -self.force @ jnp.linalg.solve(own, self.by_place + s * self.by_speed)


class Linearization(eqx.Module):
    """m y'' + c y' + k y = b z + input, in independent coordinates y (the mass metric makes m the identity).

    z are the internal states of laws (bristles, branches of bushings), z' = s y + d y' + a z; a mechanism without such
    laws has none. `frequencies` are those of the undamped system whose internal states are held (rad/s, NaN where it is
    unstable, 0 where nothing holds it), `damping_ratios` the modal ones, `modes` the columns of y. All three are
    differentiable where frequencies are distinct; the complex `eigenvalues` of the whole system are exact but not
    differentiable.
    """

    system: System
    state: State
    basis: jax.Array  # (6 bodies, n) whitened displacement of each coordinate
    mass: jax.Array  # (n, n)
    damping: jax.Array  # (n, n)
    stiffness: jax.Array  # (n, n)
    internal: Internal
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
        """Undamped angular frequencies, ascending, rad/s; 0 for coordinates that nothing holds."""
        values = self._modal()[0]
        free = jnp.abs(values) <= _FREE * jnp.max(jnp.abs(values), initial=0.0)
        good = (values > 0) & ~free
        return jnp.where(good, jnp.sqrt(jnp.where(good, values, 1.0)), jnp.where(free, 0.0, jnp.nan))

    @property
    def modes(self):
        """Mode shapes (n, n) in the coordinates y, one column each, of unit modal mass."""
        return self._modal()[1]

    @property
    def damping_ratios(self):
        """Modal damping ratios, phi^T c phi / (2 omega)."""
        if self.internal.force.shape[1]:
            raise ModelError(
                "damping_ratios: laws with internal states damp otherwise than by a matrix; look at `eigenvalues`."
            )
        modes = self.modes
        return jnp.einsum("ij,ik,kj->j", modes, self.damping, modes) / (2 * self.frequencies)

    @property
    def eigenvalues(self):
        """Complex eigenvalues of the whole system, 1/s: two per coordinate and one per internal state."""
        n, inner = self.mass.shape[0], self.internal
        inverse = np.linalg.inv(np.asarray(self.mass))
        rows = [
            [np.zeros((n, n)), np.eye(n), np.zeros((n, inner.force.shape[1]))],
            [-inverse @ self.stiffness, -inverse @ self.damping, inverse @ inner.force],
            [inner.by_place, inner.by_speed, inner.by_itself],
        ]
        return np.linalg.eigvals(np.block(rows))

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
            dynamic = self.stiffness - w * w * self.mass + 1j * w * self.damping + self.internal.stiffness(1j * w)
            return left @ jnp.linalg.solve(dynamic, right.astype(complex))

        return jax.vmap(at)(jnp.asarray(frequencies, dtype=float))


def _unit(t):
    return jnp.ones_like(t)


def linearize(system, state, *, t=0.0):
    """Linearise the free motion about an equilibrium `state` (at rest)."""
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


def _state_of(structure, model, state, basis, y, rate, t, z=0.0):
    """The state displaced by y (and z) with speed `rate`, on the constraints."""
    moving = motion(model, state.q, state.v)
    _, roots = whiten(structure, model, moving, rows_at(structure, model, moving, t))
    shift = Rates(*unwhiten(structure, model, roots, (basis @ y).reshape(structure.bodies, 6)))
    speed = Rates(*unwhiten(structure, model, roots, (basis @ rate).reshape(structure.bodies, 6)))
    q, v = _projected(structure, model, displace(state.q, shift), speed, t)
    moving = motion(model, q, v)
    spin = unwrap(spins(structure, model, moving), state.memory.spin)
    return State(q, v, state.internal + z, Memory(spin, state.memory.points), no_account())


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

    def change(y, rate, z):
        """Generalised force, and the rate of the internal states."""
        here = _state_of(structure, model, state, basis, y, rate, t, z)
        solution, moving, _, applied = accelerations(structure, model, here.q, here.v, here.internal, here.memory, t)
        rates = Rates(solution.velocity_rate, solution.angular_rate, solution.planar_rate)
        _, roots = whiten(structure, model, moving, rows_at(structure, model, moving, t))
        # Whitened acceleration, as body_speeds makes it of a velocity.
        whole = body_speeds(structure, model, motion(model, here.q, rates), roots, rates)
        return pattern.T @ whole.reshape(-1), applied.internal_rate

    inside = jnp.zeros(structure.internals)
    (f_y, f_rate, f_z), own = jax.jacfwd(change, argnums=(0, 1, 2))(zero, zero, inside)
    left = jnp.max(jnp.abs(change(zero, zero, inside)[0]), initial=0.0)
    return basis, mass, -f_rate, -f_y, Internal(f_z, *own), left
