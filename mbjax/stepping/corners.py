"""Corners of friction laws: slip speeds where a force goes on with another slope.

A contact point keeps to its side of every corner (`Points.pace`) throughout a step, so that no step goes across one. A
step that ends too far beyond a corner is given back with the fraction at which to end instead. Slips between two
step ends are taken to change evenly, which gets better the nearer they are.
"""

import jax.numpy as jnp

from .. import smooth
from ..interactions import passed
from ..law import OPEN

_TOLERANCE = 0.02  # of the distance to the next corner: how far beyond one a step may end
_AHEAD = 4  # steps; what lies further off is not foreseen


class _Stretch:
    """Speeds between which each point (points,) is, and how far beyond these a step may end."""

    def __init__(self, pace, speeds):
        zero, never = jnp.zeros((speeds.shape[0], 1)), jnp.full((speeds.shape[0], 1), jnp.inf)
        edges = jnp.concatenate([zero, speeds, never], axis=1)
        before, after = speeds - edges[:, :-2], edges[:, 2:] - speeds
        # A first corner at rest has nothing before it.
        room = jnp.where(before > 0, jnp.minimum(before, after), after)
        room = jnp.where(jnp.isfinite(room), _TOLERANCE * room, 0.0)
        room = jnp.concatenate([zero, room, zero], axis=1)
        (self.low, self.slack_low), (self.high, self.slack_high) = (
            [jnp.take_along_axis(x, k[:, None], axis=1)[:, 0] for x in (edges, room)] for k in (pace, pace + 1)
        )

    def leaves(self, slip, change):
        """When a slip that grows by `change` in every unit of time passes an edge by half of what is allowed (points,);
        infinite if never."""
        a, b, c = (jnp.sum(x * y, axis=-1) for x, y in ((change, change), (slip, change), (slip, slip)))
        falls, rises = b < 0, a > 0
        down, up = (self.low - 0.5 * self.slack_low) ** 2, (self.high + 0.5 * self.slack_high) ** 2
        root = b * b - a * (c - down)
        falls = falls & (self.low > 0) & (root > 0) & (c > down)
        first = (c - down) / jnp.where(falls, jnp.sqrt(jnp.where(falls, root, 1.0)) - b, 1.0)
        rises = rises & jnp.isfinite(up) & (up > c)
        root = jnp.sqrt(jnp.where(rises, b * b + a * (up - c), 1.0))
        last = jnp.where(b > 0, (up - c) / jnp.where(b > 0, root + b, 1.0), (root - b) / jnp.where(rises, a, 1.0))
        return jnp.minimum(jnp.where(falls, first, jnp.inf), jnp.where(rises, last, jnp.inf))

    def left(self, slip, change):
        """Whether a slip that grows by `change` goes further beyond an edge than allowed."""
        a, b = (jnp.sum(x * change, axis=-1) for x in (change, slip))
        lowest = jnp.clip(-b / jnp.where(a > 0, a, 1.0), 0.0, 1.0)[:, None]
        speeds = smooth.norm(slip + lowest * change), smooth.norm(slip + change)
        return (speeds[0] < self.low - self.slack_low) | (speeds[1] > self.high + self.slack_high)

    def holds(self, slip):
        speed = smooth.norm(slip)
        return (speed >= self.low) & (speed <= self.high)


def fraction(before, slip, speeds):
    """Where in a step each point should have passed its first corner, 1 if it did not go too far (points,)."""
    stretch, change = _Stretch(before.pace, speeds), slip - before.slip
    x = jnp.clip(stretch.leaves(before.slip, change), 1e-3, 1.0)
    return jnp.where((before.mode != OPEN) & stretch.left(before.slip, change), x, 1.0)


def settled(before, mode, slip, speeds):
    """The pace of every point at the end of a step (points,)."""
    stays = (before.mode != OPEN) & (mode != OPEN) & _Stretch(before.pace, speeds).holds(slip)
    return jnp.where(stays, before.pace, passed(slip, speeds))


def expected(before, mode, pace, slip, speeds, h):
    """Time (s) after a step of length h until the next point passes a corner."""
    steps = _Stretch(pace, speeds).leaves(slip, slip - before.slip)
    near = (mode != OPEN) & (before.mode != OPEN) & (steps <= _AHEAD)
    return h * jnp.min(jnp.where(near, steps, jnp.inf), initial=jnp.inf)


def since(before, pace, slip, slip_speed_rate, speeds, h):
    """Time from a step's end back to where each point passed its corner, with its derivative; 0 where none did or where
    that cannot be told (points,)."""
    k = jnp.where(pace > before.pace, before.pace, before.pace - 1)
    edge = jnp.take_along_axis(speeds, jnp.clip(k, 0, speeds.shape[1] - 1)[:, None], axis=1)[:, 0]
    flipped = (pace != before.pace) & jnp.isfinite(edge)
    beyond = smooth.norm(slip) - jnp.where(flipped, edge, 0.0)
    usable = flipped & (beyond * slip_speed_rate > 0) & (jnp.abs(beyond) <= jnp.abs(slip_speed_rate) * h)
    return usable, jnp.where(usable, -beyond / jnp.where(usable, slip_speed_rate, 1.0), 0.0)
