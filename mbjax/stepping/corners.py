"""Corners of friction laws: slip speeds where a force goes on with another slope.

A contact point keeps to its side of every corner (`Points.pace`) throughout a step, so that no step goes across one. A
step that ends too far beyond a corner, or that went beyond one and came back, is given back with the fraction at which
to end instead. Error estimates do not see what happens beyond a corner: how far is too far goes with their tolerance.
Slips within a step are the quadratic through both ends with the rate at the second one.
"""

import jax
import jax.numpy as jnp

from .. import interactions, smooth
from ..law import OPEN
from ..state import Memory
from .steps import Adaptive

_PIECES = 8  # of a step, in each of which a slip is looked for beyond its corners
_AHEAD = 4  # steps; what lies further off is not foreseen


def begin(structure, model, moving, memory):
    """Memory whose points know on which side of their corners they are."""
    points, still = memory.points, jax.lax.stop_gradient
    slip = still(interactions.slips(structure, model, moving, memory))
    pace = _passed(slip, still(interactions.corner_speeds(structure, model)))
    return Memory(memory.spin, points.beside_corners(pace, slip))


def _passed(slip, speeds):
    """How many of its corner speeds each slip is past (points,)."""
    return jnp.sum(smooth.norm(slip)[:, None] > speeds, axis=-1)


def allowed(method):
    """How far beyond a corner a step may end, over the distance to the next corner. A slip that has its largest value
    that far beyond, and is not noticed, errs by the power 3/2 of it."""
    rtol = method.steps.rtol if isinstance(method.steps, Adaptive) else 1e-6
    return jnp.clip(jnp.asarray(rtol) ** (2 / 3), 1e-6, 0.02)


class _Path:
    """Slips (points, 3) over a step, with x from 0 to 1."""

    def __init__(self, before, slip, slip_rate, h):
        self.end, self.slope = slip, h * slip_rate
        self.bend = before.slip - slip + self.slope

    def at(self, x):
        y = (x - 1)[..., None]
        return self.end + y * (self.slope + y * self.bend)

    def towards(self, x, edge, low, high):
        """The x between `low` and `high` at which the slip's speed is `edge`, from nearby."""
        for _ in range(4):
            here = self.at(x)
            speed = smooth.norm(here)
            rate = jnp.sum(here * (self.slope + 2 * (x - 1)[..., None] * self.bend), axis=-1) * smooth.over(1.0, speed)
            x = jnp.clip(x - smooth.over(speed - edge, rate), low, high)
        return x


class _Stretch:
    """Speeds between which each point (points,) is, and how far beyond these a step may end."""

    def __init__(self, pace, speeds, share):
        zero, never = jnp.zeros((speeds.shape[0], 1)), jnp.full((speeds.shape[0], 1), jnp.inf)
        edges = jnp.concatenate([zero, speeds, never], axis=1)
        before, after = speeds - edges[:, :-2], edges[:, 2:] - speeds
        # A first corner at rest has nothing before it.
        room = jnp.where(before > 0, jnp.minimum(before, after), after)
        room = jnp.where(jnp.isfinite(room), share * room, 0.0)
        room = jnp.concatenate([zero, room, zero], axis=1)
        (self.low, self.slack_low), (self.high, self.slack_high) = (
            [jnp.take_along_axis(x, k[:, None], axis=1)[:, 0] for x in (edges, room)] for k in (pace, pace + 1)
        )

    def leaves(self, slip, change):
        """When a slip that grows by `change` in every unit of time passes an edge by half of what is allowed (points,),
        infinite if never; and the speed it then has."""
        a, b, c = (jnp.sum(x * y, axis=-1) for x, y in ((change, change), (slip, change), (slip, slip)))
        lower, upper = self.low - 0.5 * self.slack_low, self.high + 0.5 * self.slack_high
        root = b * b - a * (c - lower**2)
        falls = (b < 0) & (self.low > 0) & (root > 0) & (c > lower**2)
        first = (c - lower**2) / jnp.where(falls, jnp.sqrt(jnp.where(falls, root, 1.0)) - b, 1.0)
        rises = (a > 0) & jnp.isfinite(upper) & (upper**2 > c)
        gap = jnp.where(rises, upper**2 - c, 0.0)
        root = jnp.sqrt(jnp.where(rises, b * b + a * gap, 1.0))
        last = jnp.where(b > 0, gap / jnp.where(b > 0, root + b, 1.0), (root - b) / jnp.where(rises, a, 1.0))
        first, last = jnp.where(falls, first, jnp.inf), jnp.where(rises, last, jnp.inf)
        return jnp.minimum(first, last), jnp.where(first < last, lower, upper)

    def left(self, slip, change):
        """Whether a slip that grows by `change` goes further beyond an edge than allowed."""
        a, b = (jnp.sum(x * change, axis=-1) for x in (change, slip))
        lowest = jnp.clip(-b / jnp.where(a > 0, a, 1.0), 0.0, 1.0)[..., None]
        speeds = smooth.norm(slip + lowest * change), smooth.norm(slip + change)
        return (speeds[0] < self.low - self.slack_low) | (speeds[1] > self.high + self.slack_high)

    def holds(self, slip):
        speed = smooth.norm(slip)
        return (speed >= self.low) & (speed <= self.high)


def fraction(before, slip, slip_rate, speeds, h, share):
    """Where in a step each point should have passed its first corner, 1 if it did not go too far (points,)."""
    stretch, path = _Stretch(before.pace, speeds, share), _Path(before, slip, slip_rate, h)
    ends = jnp.arange(_PIECES + 1) / _PIECES
    slips = jax.vmap(lambda x: path.at(jnp.full(slip.shape[:1], x)))(ends)
    left = jax.vmap(stretch.left)(slips[:-1], slips[1:] - slips[:-1])
    piece = jnp.argmax(left, axis=0)
    start, stop = (jnp.take_along_axis(slips, (piece + k)[None, :, None], axis=0)[0] for k in (0, 1))
    inside, edge = stretch.leaves(start, stop - start)
    edge = jnp.where(jnp.isfinite(inside), edge, smooth.norm(start))
    low = piece / _PIECES
    x = path.towards(low + jnp.clip(inside, 0.0, 1.0) / _PIECES, edge, low, low + 1 / _PIECES)
    return jnp.where((before.mode != OPEN) & jnp.any(left, axis=0), jnp.clip(x, 1e-3, 1.0), 1.0)


def settled(before, mode, slip, speeds):
    """The pace of every point at the end of a step (points,)."""
    stays = (before.mode != OPEN) & (mode != OPEN) & _Stretch(before.pace, speeds, 0.0).holds(slip)
    return jnp.where(stays, before.pace, _passed(slip, speeds))


def expected(before, mode, pace, slip, slip_rate, speeds, h, share):
    """Time (s) after a step of length h until the next point passes a corner."""
    path = _Path(before, slip, slip_rate, h)
    steps, edge = _Stretch(pace, speeds, share).leaves(slip, path.slope)
    near = (mode != OPEN) & (before.mode != OPEN) & (steps <= _AHEAD)
    x = path.towards(1 + jnp.where(near, steps, 0.0), jnp.where(near, edge, 0.0), 1.0, 1.0 + _AHEAD)
    return h * jnp.min(jnp.where(near & (x > 1), x - 1, jnp.inf), initial=jnp.inf)


def since(before, passed, pace, slip, slip_rate, speeds, h):
    """Which points (points,) of those that `passed` a corner can tell how long ago, and the time from the step's end
    back to it, with its derivative."""
    k = jnp.where(pace > before.pace, before.pace, before.pace - 1)
    edge = jnp.take_along_axis(speeds, jnp.clip(k, 0, speeds.shape[1] - 1)[:, None], axis=1)[:, 0]
    passed = passed & jnp.isfinite(edge)
    speed = smooth.norm(slip)
    rate = jax.lax.stop_gradient(jnp.sum(slip * slip_rate, axis=-1) * smooth.over(1.0, speed))
    beyond = speed - jnp.where(passed, edge, 0.0)
    usable = passed & ((pace - before.pace) * rate > 0) & (jnp.abs(beyond) <= jnp.abs(rate) * h)
    return usable, jnp.where(usable, -beyond / jnp.where(usable, rate, 1.0), 0.0)
