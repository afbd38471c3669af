"""What a pair of surfaces must say: where it touches and how deep."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp

from ...rotation import cross


class Geometry(eqx.Module):
    """Contact points of a pair at a relative pose, in bearing frame axes.

    The normal points out of the journal into the bearing's wall: depth grows when the journal moves along it, and the
    contact force on the journal is `-F normal`. Arms lead from either side's own frame point to its contact point
    (Q_i, Q_j in P2 13 and P3 4: one on each surface, a depth apart).
    """

    depth: jax.Array  # (points,) m, positive = penetration
    normal: jax.Array  # (points, 3)
    arm_bearing: jax.Array  # (points, 3) m
    arm_journal: jax.Array  # (points, 3) m


class Contact(eqx.Module):
    """Contact points and how they move."""

    depth: jax.Array  # (points,) m
    rate: jax.Array  # (points,) m/s, positive = approaching
    normal: jax.Array  # (points, 3)
    normal_rate: jax.Array  # (points, 3) 1/s
    slip: jax.Array  # (points, 3) m/s, tangential velocity of journal relative to bearing
    arm_bearing: jax.Array  # (points, 3) m
    arm_journal: jax.Array  # (points, 3) m


class AbstractPair(eqx.Module):
    """Two surfaces of a connection."""

    points: eqx.AbstractVar[int]

    @abstractmethod
    def point_names(self):
        """A word for each contact point."""

    @abstractmethod
    def geometry(self, displacement, turn):
        """`Geometry` at a displacement (3,) and rotation (3, 3) of the journal in bearing frame axes."""

    @abstractmethod
    def tolerance(self):
        """Largest first penetration, (points,) m: steps end on a touch to within this."""

    @abstractmethod
    def motions(self):
        """Who owns each relative motion; the word `contact` where the pair does."""

    @abstractmethod
    def rows(self):
        """Constraint rows of the motions that the pair leaves to a perfect guide."""

    @abstractmethod
    def ideal(self):
        """The joint without clearance."""


def measure(pair, relative):
    """Depth and rate of every contact point."""
    g = pair.geometry(relative.displacement, relative.rotation)
    return g.depth, jnp.sum(_surface_velocity(relative, g) * g.normal, axis=-1)


def contact(pair, relative):
    """All contact points and their motion.

    Slip is the difference of the material velocities at the two contact points (P2 14-16 with the rolling part kept).
    The points lie a depth apart, so this differs from the velocity seen from the bearing by depth x its own turning.
    """
    turn_rate = jnp.swapaxes(cross(relative.angular[None, :], relative.rotation.T), -1, -2)
    g, g_rate = jax.jvp(pair.geometry, (relative.displacement, relative.rotation), (relative.velocity, turn_rate))
    velocity = _surface_velocity(relative, g)
    rate = jnp.sum(velocity * g.normal, axis=-1)
    return Contact(
        g.depth, rate, g.normal, g_rate.normal, velocity - rate[:, None] * g.normal, g.arm_bearing, g.arm_journal
    )


def _surface_velocity(relative, g):
    apart = relative.displacement + g.arm_journal - g.arm_bearing
    return relative.velocity + cross(relative.angular[None, :], g.arm_journal) + cross(relative.carrier[None, :], apart)
