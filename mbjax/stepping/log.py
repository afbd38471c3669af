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


class Loads(eqx.Module):
    """Normal forces at an end of a step."""

    force: jax.Array  # (points,) N
    force_rate: jax.Array  # (points,) N/s
    flow: jax.Array  # dy/dt of the flat state there


class Log(eqx.Module):
    """Rows in the order of their steps, and what is being summed up for contacts that last."""

    count: jax.Array  # () rows wanted so far; more than there are rows = overflow
    kind: jax.Array  # (rows,)
    point: jax.Array  # (rows,)
    grazing: jax.Array  # (rows,)
    time: jax.Array  # (rows,) s
    speed: jax.Array  # (rows,) m/s or rad/s
    impulse: jax.Array  # (rows,) N s of the contact that ends here
    peak: jax.Array  # (rows,) N, its largest normal force
    loads: "Loads"  # just after the last step end
    impulse_so_far: jax.Array  # (points,) N s
    peak_so_far: jax.Array  # (points,) N


def empty(rows, loads):
    none = jnp.full(rows, jnp.nan)
    whole = jnp.full(rows, -1)
    zero = jnp.zeros_like(loads.force)
    no = jnp.zeros(rows, dtype=bool)
    return Log(jnp.array(0), whole, whole, no, none, none, none, none, loads, zero, loads.force)


def record(log, happening, before, after, h, bend, inside, more):
    """The log after a step of length h.

    `before` and `after` are the `Loads` at its end, under the law of the step and under that of the next one.
    `inside(x)` are the normal forces at the fraction x of the step, `inside(x, more())` better ones. Over the step the
    force is the cubic through both ends, which tells where the largest is; the impulse is summed up in bent time.
    """
    start = log.loads
    impulse = log.impulse_so_far + _impulse(start, inside(0.5 - 0.25 * bend), before, h, bend)
    crest = _crest(start.force, h * start.force_rate, before.force, h * before.force_rate, inside, more)
    peak = jnp.maximum(jnp.maximum(log.peak_so_far, before.force), crest)
    happened = happening.kind >= 0
    rows = log.kind.shape[0]
    place = jnp.where(happened, log.count + jnp.cumsum(happened) - 1, rows)
    ended = happening.kind == RELEASE

    def put(column, values):
        return column.at[place].set(values, mode="drop")

    return Log(
        log.count + jnp.sum(happened),
        put(log.kind, happening.kind),
        put(log.point, jnp.arange(peak.shape[0])),
        put(log.grazing, happening.grazing),
        put(log.time, happening.time),
        put(log.speed, happening.speed),
        put(log.impulse, jnp.where(ended, impulse, 0.0)),
        put(log.peak, jnp.where(ended, peak, 0.0)),
        after,
        jnp.where(happened & (happening.kind != TURN), 0.0, impulse),
        jnp.where(happened & (happening.kind != TURN), 0.0, peak),
    )


def _impulse(start, middle, end, h, bend):
    """Over the fraction x of the solver's time, t = t0 + h x (1 - bend + bend x), in which a force that begins or ends
    like a power of time is smooth; `middle` is the force at x = 1/2. Exact up to the fifth power."""
    first, last = h * (1 - bend), h * (1 + bend)  # dt/dx
    slope0 = first * first * start.force_rate + 2 * h * bend * start.force
    slope1 = last * last * end.force_rate + 2 * h * bend * end.force
    return (7 * first * start.force + 16 * h * middle + 7 * last * end.force) / 30 + (slope0 - slope1) / 60


def _crest(f0, s0, f1, s1, inside, more):
    """The largest force inside a step, where the cubic with values f and slopes s (per step) at its ends has one; else
    0. Where the force is level its value does not depend on where exactly: that place needs no derivative.
    """
    a, b = 3 * (s0 + s1 + 2 * (f0 - f1)), 2 * (3 * (f1 - f0) - 2 * s0 - s1)  # slope = a x^2 + b x + s0
    has = (s0 > 0) & (s1 < 0)
    root = jnp.sqrt(jnp.where(has, b * b - 4 * a * s0, 1.0))
    x = jax.lax.stop_gradient(jnp.where(has, 2 * s0 / jnp.where(has, root - b, 1.0), 0.0))
    crest = jnp.where(has, f0 + x * (s0 + x * (b / 2 + x * a / 3)), 0.0)
    # The cubic is good to a few thousandths of the largest force, and its place makes derivatives wrong: if that is
    # beside the crest, the force there changes with the time of the contact. So the law itself is asked.
    k = jax.lax.stop_gradient(jnp.argmax(crest))
    bend = jax.lax.stop_gradient(2 * a * x + b)[k]

    def top():
        extra = more()
        return _top(lambda x: inside(x, extra)[k], x[k], bend)

    return crest.at[k].set(jax.lax.cond(jnp.any(has), top, lambda: crest[k]))


def _top(force, x, bend):
    """The force where it is level, near `x`; `bend` is about its second derivative there."""

    def nearer(_, x):
        slope = jax.jvp(force, (x,), (jnp.ones_like(x),))[1]
        return jnp.clip(x - slope / jnp.where(bend < 0, bend, -jnp.inf), 0.0, 1.0)

    return force(jax.lax.stop_gradient(jax.lax.fori_loop(0, 4, nearer, x)))
