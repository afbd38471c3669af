"""Switches of contact points at the end of a step: where they happen, what they change, what they do to derivatives.

A step that ends too far behind a switch is given back with the fraction at which to end instead. At the end of an
accepted step the points that switched get their new mode; a touch latches its speed. Derivatives see the switch at
its own time: the latched speed is that at zero depth, and where forces jump the state is corrected by the time
between switch and step end (saltation); where they do not, its derivative is.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import interactions
from ..kinematics import motion
from ..law import CLOSED, OPEN, RETURNING, SLOWEST_TOUCH, Points
from ..state import Memory
from .flow import internal_of, sizes, unpack
from .log import RELEASE, TOUCH, TURN, Happening

_SAMPLES = np.arange(1, 9) / 8
_RATE_TOLERANCE = 1e-9  # of a rate that changes sign, over the speed at touch


class Switched(eqx.Module):
    """What a step's end brought."""

    y: jax.Array
    memory: Memory
    fraction: jax.Array  # () where in the step to end instead; 1 to keep it
    any: jax.Array  # () whether a point switched
    touched: jax.Array  # () whether a point touched
    happening: Happening


def begin(structure, model, y, memory):
    """Memory at the start of a run: points that lie in contact already are told so."""
    q, v = unpack(structure, y)
    return interactions.settled(structure, model, motion(model, q, v), memory)


def switch(method, model, moment, y, spin, moving, t0, t1):
    """Look at all contact points at the end of a step from t0 to t1."""
    structure = method.structure
    before = moment.memory.points
    memory = Memory(spin, before)
    depth, rate = interactions.measure(structure, model, moving, memory)
    tolerance = interactions.tolerances(structure, model)
    still = jax.lax.stop_gradient
    fraction = _fraction(structure, before, still(depth), still(rate), still(tolerance), t1 - t0)
    tiny = t1 - t0 <= 16 * jnp.finfo(float).eps * jnp.abs(t1)
    fraction = jnp.where(tiny, 1.0, fraction)

    touched = (before.mode == OPEN) & (depth > 0)
    left = (before.mode != OPEN) & (depth < 0)
    returns = structure.returns
    turned = returns & ~left & ((before.mode == CLOSED) & (rate < 0) | (before.mode == RETURNING) & (rate > 0))
    flipped = touched | left | turned
    happened = jnp.any(flipped)
    # Accelerations are wanted where a speed is latched or noted, and where forces jump: other steps are cheap.
    wanted = happened if structure.jumps or method.events else jnp.any(touched)
    before_memory = Memory(spin, before)
    nothing = (jnp.zeros_like(y), jnp.zeros_like(depth), jnp.zeros_like(rate))
    old, depth_rate, rate_rate = jax.lax.cond(
        wanted, lambda y: _along_flow(method, model, before_memory, y, t1), lambda y: nothing, y
    )
    depth_rate, rate_rate = still((depth_rate, rate_rate))
    # Speed at zero depth; its derivative is that of the located touch.
    square = rate * rate - 2 * rate_rate * depth
    speed = jnp.sqrt(jnp.where(touched & (square > SLOWEST_TOUCH**2), square, 1.0))
    speed = jnp.where(square > SLOWEST_TOUCH**2, speed, SLOWEST_TOUCH)
    mode = jnp.where(touched, CLOSED, jnp.where(left, OPEN, before.mode))
    mode = jnp.where(turned, jnp.where(before.mode == CLOSED, RETURNING, CLOSED), mode)
    inverse = jnp.where(touched, 1.0 / speed, jnp.where(left, 0.0, before.inverse_speed))
    fastest = jnp.maximum(before.fastest, jnp.where(touched, still(speed), 0.0))
    after = Memory(spin, Points(mode, inverse, still(depth), still(rate), fastest))
    # Time from the step's end back to each switch, with its derivative.
    guard = jnp.where(turned, rate, depth)
    guard_rate = jnp.where(turned, rate_rate, still(rate))
    usable = flipped & (guard_rate != 0)
    back = jnp.where(usable, -guard / jnp.where(usable, guard_rate, 1.0), 0.0)
    if structure.jumps:
        dt = jnp.sum(back) / jnp.maximum(jnp.sum(usable), 1)
        y = jax.lax.cond(happened, lambda y: _saltation(method, model, after, y, old, dt, flipped, t1), lambda y: y, y)
    else:
        dt = jnp.sum(jnp.where(touched, back, 0.0)) / jnp.maximum(jnp.sum(touched & usable), 1)
        y = jax.lax.cond(
            jnp.any(touched), lambda y: _in_hindsight(method, model, after, y, old, dt, t1), lambda y: y, y
        )
    kind = jnp.where(touched, TOUCH, jnp.where(left, RELEASE, jnp.where(turned, TURN, -1)))
    grazing = touched & (square < 4 * jnp.abs(rate_rate) * tolerance + SLOWEST_TOUCH**2)
    happening = Happening(kind, t1 + back, jnp.where(touched, speed, jnp.abs(rate + rate_rate * back)), grazing)
    return Switched(y, after, fraction, happened, jnp.any(touched), happening)


def _along_flow(method, model, memory, y, t):
    """dy/dt under the law before a switch, and the rates of depth and rate of all points along it."""
    structure = method.structure
    old = method.flow(t, y, (model, memory))

    def measured(y):
        q, v = unpack(structure, y)
        return interactions.measure(structure, model, motion(model, q, v), memory)

    return old, *jax.jvp(measured, (y,), (old,))[1]


def _saltation(method, model, after, y, old, dt, flipped, t):
    """Undo the old law's last moments and do them by the new one: y + dt (f_before - f_after).

    dt has the value and the derivative of the time from the step's end back to the switch.
    """
    new = method.flow(t, reset(method.structure, model, y, flipped), (model, after))
    return reset(method.structure, model, y + dt * old, flipped) - dt * new


def _in_hindsight(method, model, after, y, old, dt, t):
    """The same state with the derivatives it would have had with the new law since the touch, dt before: the force has
    not done anything yet, but it grows steeply (Hertz), and a touch that comes earlier lets it grow further."""
    still = jax.lax.stop_gradient
    return y + (dt - still(dt)) * still(old - method.flow(t, y, (model, after)))


def reset(structure, model, y, flipped):
    """Internal states as they start after a switch."""
    if not structure.internals:
        return y
    nq, nv, ni, _ = sizes(structure)
    start = nq + nv
    return y.at[start : start + ni].set(interactions.at_switch(structure, model, internal_of(structure, y), flipped))


def _fraction(structure, before, depth, rate, tolerance, h):
    """Where in the step the first switch lies if it ended beyond the tolerance, else 1."""
    sign = jnp.where(before.mode == OPEN, 1.0, -1.0)
    aim = 0.5 * tolerance
    # The depth over the step is the cubic through depths and rates at both ends.
    g0, s0, g1, s1 = sign * before.depth, sign * before.rate * h, sign * depth, sign * rate * h

    def cubic(x):
        return g0 + x * (s0 + x * (3 * (g1 - g0) - 2 * s0 - s1 + x * (2 * (g0 - g1) + s0 + s1)))

    def cubic_slope(x):
        return s0 + x * (2 * (3 * (g1 - g0) - 2 * s0 - s1) + 3 * x * (2 * (g0 - g1) + s0 + s1))

    samples = jax.vmap(cubic)(jnp.asarray(_SAMPLES))
    beyond = samples > tolerance
    first = jnp.argmax(beyond, axis=0)
    high = jnp.asarray(_SAMPLES)[first]
    low = high - 0.125
    a = jnp.where(first == 0, g0, jnp.take_along_axis(samples, jnp.maximum(first - 1, 0)[None], axis=0)[0]) - aim
    b = jnp.take_along_axis(samples, first[None], axis=0)[0] - aim
    x = jnp.where((a < 0) & (b > 0), low - a * (high - low) / jnp.where(b > a, b - a, 1.0), low)
    for _ in range(4):
        slope = cubic_slope(x)
        x = jnp.clip(x - (cubic(x) - aim) / jnp.where(slope != 0, slope, 1.0), low, high)
    at_depth = jnp.where(jnp.any(beyond, axis=0), x, 1.0)
    if structure.returns.any():
        sign = jnp.where(before.mode == CLOSED, -1.0, 1.0)
        watched = structure.returns & (before.mode != OPEN)
        r0, r1 = sign * before.rate, sign * rate
        allowed = _RATE_TOLERANCE / jnp.where(before.inverse_speed > 0, before.inverse_speed, 1.0)
        late = watched & (r1 > allowed)
        root = (0.5 * allowed - r0) / jnp.where(r1 > r0, r1 - r0, 1.0)
        at_depth = jnp.minimum(at_depth, jnp.where(late, root, 1.0))
    return jnp.min(jnp.clip(at_depth, 1e-3, 1.0), initial=1.0)
