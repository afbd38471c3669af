"""How far a motion and its derivatives can be trusted: the growth of small errors along it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .compilation import compiled
from .simulation import simulate
from .stepping.flow import pack, sizes
from .stepping.steps import Adaptive, ErrorNorm


class Trust(eqx.Module):
    """Growth of a small error made at the start."""

    ts: jax.Array  # (times,) s
    growth: jax.Array  # (times,) largest error over the error at the start, in the units of the error norm
    rate: jax.Array  # () 1/s, exponential growth rate over the run (least squares)
    horizon: jax.Array  # () s, where an error of rtol has grown to `tolerance`; the end of the run if it has not
    tolerance: float = eqx.field(static=True)

    def __str__(self):
        end = float(self.ts[-1])
        reach = float(self.horizon)
        word = "the whole run" if reach >= end else f"t = {reach:.4g} s"
        return (
            f"errors grow by {float(self.growth[-1]):.3g} over {end - float(self.ts[0]):.4g} s "
            f"({float(self.rate):.3g} 1/s); motion and derivatives can be trusted to {self.tolerance:g} up to {word}"
        )


def trust_horizon(system, state, ts, *, steps=None, tolerance=1e-2, directions=4, seed=0, **options):
    """Estimate how far a run can be trusted: sensitivities to random changes of the initial velocities.

    Each direction is integrated along with the motion (`Tangents`), through all contacts. The growth is that of the
    largest of them in the error norm; beyond the horizon compare statistics, not values.
    """
    steps = Adaptive() if steps is None else steps
    structure = system.structure
    ts = jnp.asarray(ts, dtype=float)
    norm = ErrorNorm(structure, steps)
    _, nv, *_ = sizes(structure)
    random = np.random.default_rng(seed)

    speed = 1.0 + max(float(jnp.max(jnp.abs(x), initial=0.0)) for x in jax.tree.leaves(state.v))
    shifts = jnp.asarray(random.normal(size=(directions, nv))) * speed
    columns, rows = _spread(system, state, ts, shifts, steps, options)
    sizes_of = jax.vmap(jax.vmap(lambda e, y: jnp.max(norm.size(e) / norm.tolerance(y, y)), (0, 0)), (0, None))
    size = jnp.max(sizes_of(columns, rows), axis=0)
    growth = size / size[0]
    usable = jnp.isfinite(growth) & (growth > 0)
    logs = jnp.where(usable, jnp.log(jnp.where(usable, growth, 1.0)), 0.0)
    x = (ts - ts[0]) * usable
    rate = jnp.sum(x * logs) / jnp.maximum(jnp.sum(x * x), 1e-300)
    grown = ~usable | (growth * steps.rtol > tolerance)
    first = jnp.argmax(grown)
    return Trust(ts, growth, rate, jnp.where(jnp.any(grown), ts[first], ts[-1]), tolerance)


@compiled
def _spread(system, state, ts, shifts, steps, options):
    """States along the run, and how each shift of the initial velocities changes them."""
    structure = system.structure

    def run(shift):
        moved = eqx.tree_at(lambda s: (s.v.velocity, s.v.angular, s.v.planar), state, _shifted(state.v, shift))
        trajectory = simulate(system, moved, ts, steps=steps, throw=False, **options)
        rows = jax.vmap(lambda s: pack(structure, s))(trajectory.states)
        return rows, rows

    def along(shift):
        _, column, rows = jax.jvp(run, (jnp.zeros_like(shift),), (shift,), has_aux=True)
        return column, rows

    return jax.vmap(along, out_axes=(0, None))(shifts)


def _shifted(v, shift):
    k = v.velocity.size
    return (
        v.velocity + shift[:k].reshape(v.velocity.shape),
        v.angular + shift[k : 2 * k].reshape(v.angular.shape),
        v.planar + shift[2 * k :].reshape(v.planar.shape),
    )
