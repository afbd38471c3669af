"""Keeping the constraints: what integration of accelerations alone would let drift."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import schur
from ..array import number
from ..constraints import rows_at
from ..dynamics import body_speeds, in_solver_order, unwhiten, whiten
from ..kinematics import motion
from ..rotation import normalise
from ..state import Rates, displace


class AbstractStabilisation(eqx.Module):
    """Two hooks: a change of the constraint accelerations, and a correction after each accepted step."""

    @abstractmethod
    def feedback(self):
        """`f(residual, drift) -> correction of gamma`, or `None`."""

    @abstractmethod
    def correct(self, structure, model, q, v, t):
        """Positions and velocities after a step."""


class Projection(AbstractStabilisation):
    """Mass-weighted projection of positions and velocities after each step (default).

    Two Newton corrections of the positions and one of the velocities at the corrected pose, with one factorisation;
    this leaves violations near rounding at the tolerances in use.
    """

    def feedback(self):
        return None

    def correct(self, structure, model, q, v, t):
        layout = structure.layout
        if not layout.size:
            return q, v
        moving = motion(model, q, v)
        rows = rows_at(structure, model, moving, t)
        whitened, roots = whiten(structure, model, moving, rows)
        # What the frozen factor leaves out of the derivative points along the rows, where the second correction acts.
        miss = in_solver_order(structure, rows.residual)
        factor, half = schur.factorise_with(layout, jax.lax.stop_gradient(whitened), miss, schur.SHIFT)
        lam = schur.second_half(layout, factor, miss, half)
        step = unwhiten(structure, model, roots, -schur.to_bodies(layout, whitened, lam))
        q = displace(q, Rates(*step))
        moving = motion(model, q, v)
        rows = rows_at(structure, model, moving, t)
        whitened, roots = whiten(structure, model, moving, rows)
        speed = body_speeds(structure, model, moving, roots, v)
        drift = schur.to_rows(layout, whitened, speed) - in_solver_order(structure, rows.velocity)
        misses = jnp.stack([in_solver_order(structure, rows.residual), drift])
        lams = jax.vmap(lambda miss: schur.back_substitute(layout, factor, miss))(misses)
        twists = jax.vmap(lambda lam: -schur.to_bodies(layout, whitened, lam))(lams)
        q = displace(q, Rates(*unwhiten(structure, model, roots, twists[0])))
        correction = unwhiten(structure, model, roots, twists[1])
        return q, Rates(v.velocity + correction[0], v.angular + correction[1], v.planar + correction[2])


class Baumgarte(AbstractStabilisation):
    """Baumgarte's feedback as P1 and P2 print it: gamma - 2 alpha Phi_dot - beta^2 Phi, both 5 by default."""

    alpha: np.ndarray = eqx.field(converter=number, default=5.0)  # 1/s
    beta: np.ndarray = eqx.field(converter=number, default=5.0)  # 1/s

    def feedback(self):
        return _Feedback(jnp.asarray(self.alpha), jnp.asarray(self.beta))

    def correct(self, structure, model, q, v, t):
        del structure, model, t
        return eqx.tree_at(lambda c: c.orientation, q, normalise(q.orientation)), v


class _Feedback(eqx.Module):
    alpha: jax.Array
    beta: jax.Array

    def __call__(self, residual, drift):
        return -2 * self.alpha * drift - self.beta**2 * residual
