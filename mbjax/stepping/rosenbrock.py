"""Rodas4: a stiffly accurate Rosenbrock method of order 4(3), one Jacobian and one LU per step, no Newton iteration.

Hairer & Wanner, Solving Ordinary Differential Equations II, section VI.4 (code RODAS, coefficient set 1).
"""

from typing import ClassVar

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from .. import dense

_GAMMA = 0.25
_ALPHA = np.array([0.0, 0.386, 0.21, 0.63, 1.0, 1.0])
_D = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])
_A = np.zeros((6, 6))
_A[1, 0] = 1.544
_A[2, :2] = 0.9466785280815826, 0.2557011698983284
_A[3, :3] = 3.314825187068521, 2.896124015972201, 0.9986419139977817
_A[4, :4] = 1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950
_A[5, :5] = *_A[4, :4], 1.0
_C = np.zeros((6, 6))
_C[1, 0] = -5.6688
_C[2, :2] = -2.430093356833875, -0.2063599157091915
_C[3, :3] = -0.1073529058151375, -9.594562251023355, -20.47028614809616
_C[4, :4] = 7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160
_C[5, :5] = 8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054


class Rodas4(diffrax.AbstractAdaptiveSolver):
    """Rosenbrock method of order 4 for stiff mechanisms, as a diffrax solver (the state must be one flat vector).

    Cost per step: one dense Jacobian, one LU, six right-hand sides. Nothing iterates, so nothing can fail to
    converge, and all derivatives are those of plain linear algebra.
    """

    term_structure: ClassVar = diffrax.ODETerm
    interpolation_cls: ClassVar = diffrax.LocalLinearInterpolation

    def order(self, terms):
        del terms
        return 4

    def init(self, terms, t0, t1, y0, args):
        del terms, t0, t1, y0, args

    def func(self, terms, t0, y0, args):
        return terms.vf(t0, y0, args)

    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        del solver_state, made_jump
        h = t1 - t0
        t0 = jnp.asarray(t0, dtype=float)

        def f(t, y):
            return terms.vf(t, y, args)

        jacobian = jax.jacfwd(f, argnums=1)(t0, y0)
        slope = jax.jvp(lambda t: f(t, y0), (t0,), (jnp.ones_like(t0),))[1]
        n = y0.shape[0]
        solve = dense.solver(jnp.eye(n) / (_GAMMA * h) - jacobian)

        def stage(u, row):
            alpha, a, c, d, k = row
            right = f(t0 + alpha * h, y0 + a @ u) + (c @ u) / h + h * d * slope
            return u.at[k].set(solve(right)), None

        rows = (jnp.asarray(_ALPHA), jnp.asarray(_A), jnp.asarray(_C), jnp.asarray(_D), jnp.arange(6))
        u, _ = jax.lax.scan(stage, jnp.zeros((6, n)), rows)
        error = u[5]
        y1 = y0 + jnp.asarray(_A[5]) @ u + error
        return y1, error, {"y0": y0, "y1": y1}, None, diffrax.RESULTS.successful
