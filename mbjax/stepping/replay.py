"""The run again on its own accepted steps, which any kind of derivative can go through.

A recomputation of an adaptive run differs from it by an ulp, and would accept, reject and touch at other times than the
run it is meant to differentiate. So the accepted steps are recorded (`loop.noted`) and replayed.
"""

import functools

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp

from . import loop
from .progress import SUCCESS


def replayed(checkpoints, config, leaves, settings, ts, knots):
    """The run again on its own accepted steps, reverse-differentiable: states, inexact parts of memory and log."""
    method, model, y0, memory = config.open(leaves, settings)
    fixed = jax.lax.stop_gradient((leaves, settings, ts, knots))
    *_, progress, steps = loop.integrate(*config.open(fixed[0], fixed[1]), fixed[2], fixed[3], record=True)
    steps, count = jax.lax.stop_gradient((steps, progress.accepted))
    outputs, (kept, log) = replay_steps(
        method, model, y0, memory, fixed[2], fixed[3], steps, count, kind="checkpointed", checkpoints=checkpoints
    )
    # A run that failed has no derivative: NaN, never an invented number.
    trust = jnp.where(progress.result == SUCCESS, 1.0, jnp.nan)
    return (outputs, jax.tree.leaves(eqx.filter((kept, log), eqx.is_inexact_array))), trust


def replay_steps(method, model, y0, memory, ts, knots, steps, count, **how):
    """States, (memory, log) at `ts` of `count` recorded steps (`loop.noted`)."""
    moment = loop.begin(method, model, y0, memory, ts[0])

    def split(memory):
        """Inexact leaves as a plain list (buffers must be found without looking into them), and the rest."""
        moving, whole = eqx.partition(memory, eqx.is_inexact_array)
        return jax.tree.leaves(moving), whole

    rows = jax.tree.map(lambda x: loop.rows_for(ts, x), (moment.y, *split(moment.memory)))
    zero = jnp.zeros((), dtype=int)

    def body(carry):
        moment, k, row, jumped, t, rows = carry
        step, end = steps[k], steps[k, 0]
        new, outcome = loop.advance(method, model, moment, t, step, jumped)
        on_output = end == ts[jnp.minimum(row, ts.shape[0] - 1)]
        out = (new.y, *split(new.memory))
        rows = jax.tree.map(lambda r, x: _put(r, row, on_output, x), rows, out, is_leaf=_is_buffer)
        on_knot = jnp.any(end == knots) if knots.shape[0] else jnp.array(False)
        return new, k + 1, row + on_output, on_knot | outcome.switched, end, rows

    carry = (moment, zero, zero + 1, jnp.array(False), ts[0], rows)
    if how:
        how |= {"max_steps": method.max_steps, "buffers": lambda c: (c[5][0], *c[5][1])}
        loop_of = functools.partial(eqxi.while_loop, **how)
    else:
        loop_of = jax.lax.while_loop
    moment, *_, (outputs, moving, whole) = loop_of(lambda c: c[1] < count, body, carry)
    shape = jax.tree.structure(eqx.filter(moment.memory, eqx.is_inexact_array))
    return outputs, (eqx.combine(jax.tree.unflatten(shape, moving), whole), moment.log)


def _put(rows, row, write, x):
    if isinstance(rows, jax.Array):
        return rows.at[row].set(jnp.where(write, x, rows[row]))
    return rows.at[row].set(x, pred=write)


def _is_buffer(x):
    return hasattr(x, "at")
