"""Diffrax's implicit Runge-Kutta methods without host callbacks.

Their root finder and its derivative go through lineax, which carries a hidden `pure_callback`. Here the stages are
found with a chord iteration on a jnp LU factorisation, and the step is differentiated by the implicit function
theorem at the stages it found: (1 - h a_ii J_i) dk_i = h (J_i dY_i + f_p dp).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from diffrax import RESULTS, AbstractImplicitSolver, MultiTerm, ODETerm

from .. import dense


class _ChordState(eqx.Module):
    lu: tuple
    size: jax.Array
    previous: jax.Array
    step: jax.Array


class Chord(optx.AbstractRootFinder):
    """Newton with a frozen Jacobian, factorised by LU; converged when the next correction is far below tolerance."""

    rtol: float
    atol: float
    norm = staticmethod(optx.max_norm)
    kappa: float = 1e-2

    def init(self, fn, y, args, options, f_struct, aux_struct, tags):
        del f_struct, aux_struct, tags
        if "init_state" in options:
            return options["init_state"]
        jacobian = jax.jacfwd(lambda x: fn(x, args)[0])(y)
        lu = jax.lax.stop_gradient(dense.lu(jacobian))
        return _ChordState(lu, jnp.array(jnp.inf), jnp.array(1.0), jnp.array(0))

    def step(self, fn, y, args, options, state, tags):
        del options, tags
        value, aux = fn(y, args)
        diff = dense.lu_solve(jax.lax.stop_gradient(state.lu), value)
        new = y - diff
        # Small entries count relative to a part of the largest: below 1e-13 of it they are rounding of the others.
        part = max(1e-4, 1e-13 / (self.kappa * self.rtol))
        whole = jnp.maximum(jnp.abs(new), part * jnp.max(jnp.abs(new)))
        size = jnp.max(jnp.abs(diff) / (self.atol + self.rtol * whole))
        return new, _ChordState(state.lu, size, state.size, state.step + 1), aux

    def terminate(self, fn, y, args, options, state, tags):
        del fn, y, args, options, tags
        enough = state.step >= 2
        rate = state.size / state.previous
        tiny = state.size < 1e-10
        diverged = ~jnp.isfinite(rate) | (rate > 2)
        factor = state.size * rate / (1 - rate)
        converged = (factor > 0) & (factor < self.kappa)
        failed = enough & ~tiny & ~converged & diverged
        result = optx.RESULTS.where(failed, optx.RESULTS.nonlinear_divergence, optx.RESULTS.successful)
        return enough & (tiny | diverged | converged), result

    def postprocess(self, fn, y, aux, args, options, state, tags, result):
        del fn, args, options, state, tags, result
        return y, aux, {}


def is_implicit(solver):
    return isinstance(solver, AbstractImplicitSolver)


def without_callbacks(solver, rtol):
    """The same implicit solver with a root finder that lowers for every device."""
    tight = float(rtol) if not isinstance(rtol, jax.core.Tracer) else 1e-8
    return eqx.tree_at(lambda s: s.root_finder, solver, Chord(tight, 1e-3 * tight), is_leaf=lambda x: x is None)


def terms_of(solver, flow):
    """The whole right-hand side as the implicit term (with a zero explicit one for IMEX methods)."""
    if _is_imex(solver):
        return MultiTerm(ODETerm(lambda t, y, args: jnp.zeros_like(y)), ODETerm(flow))
    return ODETerm(flow)


def _is_imex(solver):
    return hasattr(solver.tableau, "tableaus")


def _tableau(solver):
    return next(t for t in solver.tableau.tableaus if t.implicit) if _is_imex(solver) else solver.tableau


def implicit_step(solver, flow, t0, t1, y0, args):
    """One step, `(y1, error, ok)`, differentiable by y0 and args."""
    dynamic, static = eqx.partition((flow, args), eqx.is_array)

    @jax.custom_jvp
    def step(t0, t1, y0, dynamic):
        return _primal(solver, *eqx.combine(dynamic, static), t0, t1, y0)[:3]

    @step.defjvp
    def _(primals, tangents):
        t0, t1, y0, dynamic = primals
        _, _, y0_dot, dynamic_dot = tangents
        y1, error, ok, stages = _primal(solver, *eqx.combine(dynamic, static), t0, t1, y0)

        def f(t, y, dynamic):
            flow, args = eqx.combine(dynamic, static)
            return flow(t, y, args)

        y1_dot, error_dot = _step_tangent(_tableau(solver), f, stages, t0, t1, y0, dynamic, y0_dot, dynamic_dot)
        return (y1, error, ok), (y1_dot, error_dot, np.zeros(ok.shape, jax.dtypes.float0))

    return step(t0, t1, y0, dynamic)


def _primal(solver, flow, args, t0, t1, y0):
    terms = terms_of(solver, flow)
    state = solver.init(terms, t0, t1, y0, args)
    y1, error, dense, _, result = solver.step(terms, t0, t1, y0, args, state, jnp.array(True))
    k = dense["k"]
    if _is_imex(solver):
        k = jax.tree.leaves(k)[[t.implicit for t in solver.tableau.tableaus].index(True)]
    return y1, error, result == RESULTS.successful, k


def _step_tangent(tableau, f, k, t0, t1, y0, dynamic, y0_dot, dynamic_dot):
    """Tangents of an ESDIRK or SDIRK step from its stage increments k_i = h f(Y_i)."""
    h = t1 - t0
    count = k.shape[0]
    lower = np.zeros((count, count))
    for i, row in enumerate(tableau.a_lower):
        lower[i + 1, : i + 1] = row
    diagonal = np.asarray(tableau.a_diagonal)
    first = 0.0 if tableau.c1 is None else float(tableau.c1)
    nodes = np.concatenate([[first], tableau.c])
    n = y0.shape[0]

    def stage(k_dot, row):
        a, gamma, c, index = row
        y = y0 + a @ k + gamma * k[index]
        t = t0 + c * h
        jacobian = jax.jacfwd(f, argnums=1)(t, y, dynamic)
        partial = y0_dot + a @ k_dot
        right = jax.jvp(lambda x, d: f(t, x, d), (y, dynamic), (partial, dynamic_dot))[1]
        solved = dense.solver(jnp.eye(n) - h * gamma * jacobian)(h * right)
        return k_dot.at[index].set(solved), None

    rows = tuple(jnp.asarray(x) for x in (lower, diagonal, nodes, np.arange(count)))
    k_dot, _ = jax.lax.scan(stage, jnp.zeros_like(k), rows)
    weights, errors = jnp.asarray(tableau.b_sol), jnp.asarray(tableau.b_error)
    return y0_dot + weights @ k_dot, errors @ k_dot
