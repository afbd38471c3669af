"""What a force law between the two sides of a connection must offer, and what it may remember.

A law sees only the relative motion at its connection, in the bearing's frame axes, and answers with forces there.
What a contact point remembers from step to step (its mode, the speed at touch) stands in `Points`; what a law
integrates along with the motion (bristles, branches of a bushing) are its internal states.
"""

from abc import abstractmethod
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .rotation import cross

OPEN, CLOSED, RETURNING = 0, 1, 2
KINDS = ("element", "contact", "friction", "film", "bushing")  # what turns energy into heat
SLOWEST_TOUCH = 1e-6  # m/s or rad/s: speeds at touch below this are latched as this
SLOWEST_START = 1e-3  # m/s or rad/s: the same for points that lie in contact when a run starts


class Points(eqx.Module):
    """Memory of contact points; changed only at the end of a step. Stacked over all points of a law or a system."""

    mode: jax.Array  # (points,) OPEN, CLOSED, or RETURNING (unloading, for laws that tell the two apart)
    inverse_speed: jax.Array  # (points,) 1 / speed at the last touch, s/m; 0 while open
    depth: jax.Array  # (points,) m or rad, at the last step end
    rate: jax.Array  # (points,) m/s or rad/s, at the last step end
    fastest: jax.Array  # (points,) m/s or rad/s, the largest speed at touch so far
    # During a run, where a friction law has corners; None: the slip alone tells on which side of them it is.
    pace: jax.Array | None = None  # (points,) how many of the corner speeds the slip has passed
    slip: jax.Array | None = None  # (points, 3) m/s, at the last step end

    def beside_corners(self, pace=None, slip=None):
        """The same with another place among the corners; by default none."""
        return Points(self.mode, self.inverse_speed, self.depth, self.rate, self.fastest, pace, slip)


def no_points(count=0):
    zero = jnp.zeros(count)
    return Points(jnp.zeros(count, dtype=int), zero, zero, zero, zero)


def by_layer(points, layers, each):
    """Memory of a law's points with leading axes (layers, points)."""
    return jax.tree.map(lambda x: x.reshape(layers, each, *x.shape[1:]), points)


def layered(names, layers):
    """Names of contact points that lie `layers` deep behind one another."""
    return tuple(n if layers < 2 else f"{n}, layer {k + 1}" for k in range(layers) for n in names)


class Effect(eqx.Module):
    """What a law does at a state, in bearing frame axes."""

    force: jax.Array  # (3,) N, bearing on journal; the bearing gets the opposite
    moment_bearing: jax.Array  # (3,) N m, total on the bearing about its own frame point
    moment_journal: jax.Array  # (3,) N m, total on the journal about its own frame point
    stored: jax.Array  # () J
    dissipated: jax.Array  # (kinds,) W, in the order of KINDS
    internal_rate: jax.Array  # (internal,)
    normal: jax.Array  # (points,) N or N m, normal force at each contact point


def powers(**kinds):
    """Dissipated power by kind, as `Effect` wants it."""
    zero = jnp.zeros(())
    return jnp.stack([kinds.get(kind, zero) for kind in KINDS])


def point_forces(force, arm_bearing, arm_journal):
    """Sum of forces (points, 3) on the journal and their moments on either side about its own frame point.

    Arms (points, 3) lead from the frame points of bearing and journal to where the force acts on each.
    """
    return (
        jnp.sum(force, axis=0),
        -jnp.sum(cross(arm_bearing, force), axis=0),
        jnp.sum(cross(arm_journal, force), axis=0),
    )


class AbstractLaw(eqx.Module):
    """A force law between bearing and journal of one connection.

    `points` and `internal` are the counts of contact points and of internal states; they depend on structure only.
    """

    points: eqx.AbstractVar[int]
    internal: eqx.AbstractVar[int]

    @abstractmethod
    def point_names(self) -> Sequence[str]:
        """A word for each contact point, for events and messages."""

    @abstractmethod
    def measure(self, relative):
        """Depth and rate of every contact point, each (points,)."""

    def corner_speeds(self):
        """Slip speeds (m/s) at which the force goes on with another slope, in rising order; counted from structure."""
        return ()

    def slips(self, relative):
        """Slip velocity of every contact point (points, 3); only asked of laws with corner speeds."""
        raise NotImplementedError

    def cornered(self):
        """Per point (static booleans): whether the corner speeds are its own."""
        return np.zeros(self.points, dtype=bool)

    def highest_speed(self):
        """Speed at touch up to which the law is meant, m/s (a static number)."""
        return np.inf

    @abstractmethod
    def returns(self):
        """Per point (static booleans): whether the law tells loading from unloading, by the sign of the rate."""

    @abstractmethod
    def jumps(self) -> bool:
        """Whether forces jump at a switch (so that the derivative needs the saltation term)."""

    @abstractmethod
    def silent(self) -> bool:
        """Whether nothing acts while all contact points are open: the law is then not even evaluated."""

    @abstractmethod
    def tolerance(self):
        """Largest first penetration per point, (points,)."""

    @abstractmethod
    def act(self, relative, points, internal, t):
        """The `Effect` at a state; `points` and `internal` are this law's own memory and states."""

    @abstractmethod
    def at_switch(self, internal, flipped):
        """Internal states after the points in `flipped` (points,) touched or let go."""

    @abstractmethod
    def motions(self):
        """The motions ("radial", "axial", "tilt", "spin") this law acts on."""
