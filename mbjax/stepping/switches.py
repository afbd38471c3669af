"""Switches of contact points at the end of a step: where they happen, what they change, what they do to derivatives.

A step that ends too far behind a switch is given back with the fraction at which to end instead. At the end of an
accepted step the points that switched get their new mode; a touch latches its speed. Derivatives see the switch at
its own time: the latched speed is that at zero depth, and where forces jump the state is corrected by the time
between switch and step end (saltation); where they do not, its derivative is. Corners of friction laws (`corners`) are
switches too, at which only a slope jumps.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import interactions
from ..kinematics import motion
from ..law import CLOSED, OPEN, RETURNING, SLOWEST_TOUCH, Points
from ..state import Memory
from . import corners
from .flow import internal_of, sizes, unpack
from .log import RELEASE, TOUCH, TURN, Happening

_SAMPLES = np.arange(1, 9) / 8
_GAUSS = tuple(0.5 * x for x in np.polynomial.legendre.leggauss(5) + np.array([[1.0], [0.0]]))  # from 0 to 1
_AHEAD = 4  # steps; what lies further off is not foreseen
_RATE_TOLERANCE = 1e-9  # of a rate that changes sign, over the speed at touch


class Outcome(eqx.Module):
    """What a step's end tells the choice of the next ones; times are infinite where nothing is near."""

    fraction: jax.Array  # () of the step, where a switch wants it to end; 1 to keep it
    switched: jax.Array  # () whether a contact point switched
    apart: jax.Array  # () whether nothing is in contact
    touched: jax.Array  # () s, when a point touched in this step
    until: jax.Array  # () s, when the next contact is expected to end
    meeting: jax.Array  # () s, when the next one is expected to begin
    cornering: jax.Array  # () s, when a slip is expected to pass a corner of its friction law


def uneventful():
    no, never = jnp.array(False), jnp.array(jnp.inf)
    return Outcome(jnp.ones(()), no, no, never, never, never, never)


def begin(structure, model, y, memory):
    """Memory at the start of a run: points that lie in contact already are told so."""
    q, v = unpack(structure, y)
    moving = motion(model, q, v)
    memory = interactions.settled(structure, model, moving, memory)
    return corners.begin(structure, model, moving, memory) if structure.corners else memory


def switch(method, model, moment, y, spin, moving, t0, t1, pace=None):
    """Look at all contact points at the end of a step from t0 to t1: the state and memory to go on with, the `Outcome`
    and the `Happening`. A run that is replayed gives the `pace` it had (it differs by rounding now)."""
    structure = method.structure
    before = moment.memory.points
    memory = Memory(spin, before)
    depth, rate = interactions.measure(structure, model, moving, memory)
    tolerance = interactions.tolerances(structure, model)
    still = jax.lax.stop_gradient
    fraction = _fraction(structure, before, still(depth), still(rate), still(tolerance), t1 - t0)
    ends = (before.mode != OPEN) & (fraction < 1)
    release = t0 + jnp.min(jnp.where(ends, fraction, jnp.inf), initial=jnp.inf) * (t1 - t0)
    fraction = jnp.min(fraction, initial=1.0)
    touched = (before.mode == OPEN) & (depth > 0)
    left = (before.mode != OPEN) & (depth < 0)
    returns = structure.returns
    turned = returns & ~left & ((before.mode == CLOSED) & (rate < 0) | (before.mode == RETURNING) & (rate > 0))
    flipped = touched | left | turned
    happened = jnp.any(flipped)
    mode = jnp.where(touched, CLOSED, jnp.where(left, OPEN, before.mode))
    mode = jnp.where(turned, jnp.where(before.mode == CLOSED, RETURNING, CLOSED), mode)
    # Accelerations are wanted where a speed is latched or noted, where forces jump, and where a slip may pass a corner:
    # other steps are cheap.
    wanted = happened if structure.jumps or method.events else jnp.any(touched)
    wanted = wanted | jnp.any((before.mode != OPEN) | (mode != OPEN)) if structure.corners else wanted
    nothing = jnp.zeros_like(depth)
    old, _, rate_rate, slip_rate = jax.lax.cond(
        wanted,
        lambda y: _along_flow(method, model, memory, y, t1),
        lambda y: (jnp.zeros_like(y), nothing, nothing, jnp.zeros((depth.shape[0], 3))),
        y,
    )
    rate_rate = still(rate_rate)
    slips, cornered = (), jnp.zeros(depth.shape, dtype=bool)
    if structure.corners:
        slip = interactions.slips(structure, model, moving, memory)
        speeds, share = interactions.corner_speeds(structure, model), still(corners.allowed(method))
        seen = (*still((slip, slip_rate, speeds)), t1 - t0, share)
        fraction = jnp.minimum(fraction, jnp.min(corners.fraction(before, *seen), initial=1.0))
        pace = corners.settled(before, mode, seen[0], seen[2]) if pace is None else pace
        slips = pace, seen[0]
        cornered = (before.mode != OPEN) & (mode != OPEN) & (pace != before.pace)
    tiny = t1 - t0 <= 16 * jnp.finfo(float).eps * jnp.abs(t1)
    fraction = jnp.where(tiny, 1.0, fraction)
    # Speed at zero depth; its derivative is that of the located touch.
    square = rate * rate - 2 * rate_rate * depth
    speed = jnp.sqrt(jnp.where(touched & (square > SLOWEST_TOUCH**2), square, 1.0))
    speed = jnp.where(square > SLOWEST_TOUCH**2, speed, SLOWEST_TOUCH)
    inverse = jnp.where(touched, 1.0 / speed, jnp.where(left, 0.0, before.inverse_speed))
    fastest = jnp.maximum(before.fastest, jnp.where(touched, still(speed), 0.0))
    after = Memory(spin, Points(mode, inverse, still(depth), still(rate), fastest, *slips))
    # Time from the step's end back to each switch, with its derivative.
    guard = jnp.where(turned, rate, depth)
    guard_rate = jnp.where(turned, rate_rate, still(rate))
    usable = flipped & (guard_rate != 0)
    back = jnp.where(usable, -guard / jnp.where(usable, guard_rate, 1.0), 0.0)
    if structure.jumps:
        matters, dt = happened, _mean(back, usable)
    else:
        # The force has not done anything yet, but it grows steeply (Hertz): a touch that comes earlier lets it grow
        # further, which is a matter of the derivative alone.
        matters, dt = jnp.any(touched), _mean(back, touched & usable)
        dt = dt - still(dt)
    if structure.corners:
        # The two forces were equal at the corner and went apart since: on the average by half.
        passing, past = corners.since(before, cornered, pace, slip, slip_rate, speeds, t1 - t0)
        dt = jnp.where(matters, dt, 0.5 * _mean(past, passing))
        matters = matters | jnp.any(passing)
    y = jax.lax.cond(matters, lambda y: _saltation(method, model, after, y, old, dt, flipped, t1), lambda y: y, y)
    kind = jnp.where(touched, TOUCH, jnp.where(left, RELEASE, jnp.where(turned, TURN, -1)))
    grazing = touched & (square < 4 * jnp.abs(rate_rate) * tolerance + SLOWEST_TOUCH**2)
    cornering = jnp.array(jnp.inf)
    if structure.corners:
        cornering = corners.expected(before, mode, pace, *seen)
    until, meeting = _outlook(mode, before, *still((depth, rate)), tolerance, t1 - t0)
    outcome = Outcome(
        fraction,
        happened | jnp.any(cornered),
        jnp.all(mode == OPEN),
        jnp.min(jnp.where(touched, t1 + jnp.minimum(still(back), 0.0), jnp.inf), initial=jnp.inf),
        jnp.where(fraction < 1, release, t1 + until),
        t1 + meeting,
        t1 + cornering,
    )
    happening = Happening(kind, t1 + back, jnp.where(touched, speed, jnp.abs(rate + rate_rate * back)), grazing)
    return y, after, outcome, happening


def _outlook(mode, before, depth, rate, tolerance, h):
    """Times (s) after the end of a step until the next contact ends, and until the next one begins."""
    # End curvature and jerk of the cubic through depths and rates at both ends of the step.
    bend = (6 * (before.depth - depth) + h * (2 * before.rate + 4 * rate)) / (h * h)
    jerk = (12 * (before.depth - depth) + 6 * h * (before.rate + rate)) / (h * h * h)
    until = _time_to_release(mode, before, depth, rate, tolerance, bend)
    meeting = _time_to_touch(mode, depth, rate, tolerance, bend, jerk)
    return (jnp.where(x <= _AHEAD * h, x, jnp.inf) for x in (jnp.min(x, initial=jnp.inf) for x in (until, meeting)))


def _time_to_release(mode, before, depth, rate, tolerance, bend):
    """As if the force went like the depth to the power 3/2."""
    ending = (mode != OPEN) & (rate < 0) & (depth > 0)
    depth = jnp.where(ending, depth, 1.0)
    # Twice the energy that the contact still gives, from what it gave in this step if that was much.
    given, left = rate * rate - before.rate * before.rate, jnp.maximum(before.depth, 0.0) ** 2.5 - depth**2.5
    much = (before.rate < 0) & (before.depth > 0) & (left > 0.2 * depth**2.5) & (given > 0)
    gain = jnp.where(much, given / jnp.where(much, left, 1.0) * depth**2.5, 0.8 * jnp.maximum(-bend * depth, 0.0))
    x, weight = _GAUSS
    # Depths go with 1 - x^2: the speed may start from next to nothing.
    speed = jnp.sqrt(rate * rate + gain * (1 - (1 - x * x) ** 2.5)[:, None])
    time = jnp.sum((2 * x * weight)[:, None] / jnp.where(ending, speed, 1.0), axis=0) * depth
    fastest = jnp.sqrt(rate * rate + gain)
    return jnp.where(ending, time + 0.5 * tolerance / jnp.where(ending, fastest, 1.0), jnp.inf)


def _time_to_touch(mode, depth, rate, tolerance, bend, jerk):
    """As the cubic goes on."""
    way = 0.5 * tolerance - depth
    square = rate * rate + 2 * bend * way
    meets = (mode == OPEN) & (rate > 0) & (square > 0)
    x = 2 * way / jnp.where(meets, rate + jnp.sqrt(jnp.where(meets, square, 1.0)), 1.0)
    for _ in range(2):
        slope = rate + x * (bend + 0.5 * x * jerk)
        x = x - (x * (rate + x * (bend / 2 + x * jerk / 6)) - way) / jnp.where(slope > 0.2 * rate, slope, jnp.inf)
    return jnp.where(meets & (x > 0), x, jnp.inf)


def _along_flow(method, model, memory, y, t):
    """dy/dt under the law before a switch, and the rates of depth, rate and slip of all points along it."""
    structure = method.structure
    old = method.flow(t, y, (model, memory))

    def measured(y):
        q, v = unpack(structure, y)
        moving = motion(model, q, v)
        depth, rate = interactions.measure(structure, model, moving, memory)
        if not structure.corners:
            return depth, rate, jnp.zeros((depth.shape[0], 3))
        return depth, rate, interactions.slips(structure, model, moving, memory)

    return old, *jax.jvp(measured, (y,), (old,))[1]


def _saltation(method, model, after, y, old, dt, flipped, t):
    """Undo the old law's last moments and do them by the new one: y + dt (f_before - f_after).

    dt has the value and the derivative of the time from the step's end back to the switch.
    """
    new = method.flow(t, reset(method.structure, model, y, flipped), (model, after))
    return reset(method.structure, model, y + dt * old, flipped) - dt * new


def _mean(times, counted):
    return jnp.sum(jnp.where(counted, times, 0.0)) / jnp.maximum(jnp.sum(counted), 1)


def reset(structure, model, y, flipped):
    """Internal states as they start after a switch."""
    if not structure.internals:
        return y
    nq, nv, ni, _ = sizes(structure)
    start = nq + nv
    return y.at[start : start + ni].set(interactions.at_switch(structure, model, internal_of(structure, y), flipped))


def _fraction(structure, before, depth, rate, tolerance, h):
    """Where in the step each point's first switch lies if it ended beyond the tolerance, else 1 (points,)."""
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
    # The cubic errs most in the middle; it is better to land too early than too late.
    x = jnp.where(before.mode == OPEN, x - 0.5 * (x * (1 - x)) ** 2, x)
    at_depth = jnp.where(jnp.any(beyond, axis=0), x, 1.0)
    if structure.returns.any():
        sign = jnp.where(before.mode == CLOSED, -1.0, 1.0)
        watched = structure.returns & (before.mode != OPEN)
        r0, r1 = sign * before.rate, sign * rate
        allowed = _RATE_TOLERANCE / jnp.where(before.inverse_speed > 0, before.inverse_speed, 1.0)
        late = watched & (r1 > allowed)
        root = (0.5 * allowed - r0) / jnp.where(r1 > r0, r1 - r0, 1.0)
        at_depth = jnp.minimum(at_depth, jnp.where(late, root, 1.0))
    return jnp.clip(at_depth, 1e-3, 1.0)
