"""A log of contacts: a fixed number of rows, written as points switch. Opt-in; it never changes the motion."""

import equinox as eqx
import jax
import jax.numpy as jnp

TOUCH, RELEASE, TURN = 0, 1, 2


class Happening(eqx.Module):
    """What each contact point did at the end of a step."""

    kind: jax.Array  # (points,) TOUCH, RELEASE, TURN, or -1 for nothing
    time: jax.Array  # (points,) s, of the switch itself, with its derivative
    speed: jax.Array  # (points,) m/s or rad/s, of approach or separation there
    grazing: jax.Array  # (points,) whether the touch is so slow that it might as well not have happened


class Log(eqx.Module):
    """Rows in the order of their steps, and what is being summed up for contacts that last."""

    count: jax.Array  # () rows wanted so far; more than there are rows = overflow
    kind: jax.Array  # (rows,)
    point: jax.Array  # (rows,)
    grazing: jax.Array  # (rows,)
    time: jax.Array  # (rows,) s
    speed: jax.Array  # (rows,) m/s or rad/s
    impulse: jax.Array  # (rows,) N s of the contact that ends here
    peak: jax.Array  # (rows,) N, its largest normal force at step ends
    force: jax.Array  # (points,) N at the last step end
    impulse_so_far: jax.Array  # (points,) N s
    peak_so_far: jax.Array  # (points,) N


def empty(rows, points, force):
    none = jnp.full(rows, jnp.nan)
    whole = jnp.full(rows, -1)
    zero = jnp.zeros(points)
    no = jnp.zeros(rows, dtype=bool)
    return Log(jnp.array(0), whole, whole, no, none, none, none, none, force, zero, force)


def record(log, happening, force, t0, t1):
    """The log after a step; `force` (points,) are the normal forces at its end."""
    impulse = log.impulse_so_far + 0.5 * (log.force + force) * (t1 - t0)
    peak = jnp.maximum(log.peak_so_far, force)
    happened = happening.kind >= 0
    rows = log.kind.shape[0]
    place = jnp.where(happened, log.count + jnp.cumsum(happened) - 1, rows)
    ended = happening.kind == RELEASE

    def put(column, values):
        return column.at[place].set(values, mode="drop")

    return Log(
        log.count + jnp.sum(happened),
        put(log.kind, happening.kind),
        put(log.point, jnp.arange(force.shape[0])),
        put(log.grazing, happening.grazing),
        put(log.time, happening.time),
        put(log.speed, happening.speed),
        put(log.impulse, jnp.where(ended, impulse, 0.0)),
        put(log.peak, jnp.where(ended, peak, 0.0)),
        force,
        jnp.where(happened & (happening.kind != TURN), 0.0, impulse),
        jnp.where(happened & (happening.kind != TURN), 0.0, peak),
    )
