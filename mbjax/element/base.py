"""What a force element must offer, and the geometry that elements share."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp

from ..kinematics import coordinate_and_rate, coordinate_gradient, relative
from ..rotation import cross, rotate
from ..smooth import unwrap


class AbstractElement(eqx.Module):
    """A named force element of a mechanism, as the user describes it."""

    name: eqx.AbstractVar[str]

    @abstractmethod
    def attaches_to(self):
        """`(bodies, connections)`: the names this element refers to, for the checks at assembly."""

    @abstractmethod
    def bind(self, places):
        """The load this element puts on the numbered bodies."""

    @abstractmethod
    def knots(self):
        """Times where the load or its rate jumps."""


class AbstractLoad(eqx.Module):
    """A bound element. Every force accounts for its energy: stored (J), dissipated and supplied (W)."""

    @abstractmethod
    def wrenches(self, model, moving, memory, t):
        """Body indices and (force, moment at the mass centre) on each, in global axes."""

    @abstractmethod
    def stored(self, model, moving, memory, t):
        """Stored energy, J."""

    @abstractmethod
    def dissipated(self, model, moving, memory, t):
        """Power turned into heat, W (never negative for a passive element)."""

    @abstractmethod
    def supplied(self, model, moving, memory, t):
        """Power put into the mechanism, W."""

    @abstractmethod
    def rotors(self, model, moving):
        """`(body indices, rows, reflected inertia, gamma)` for inertia that is coupled to a joint coordinate."""


class JointSite(eqx.Module):
    """A joint coordinate of one connection, where an element acts."""

    connection: int = eqx.field(static=True)
    bearing: int = eqx.field(static=True)
    journal: int = eqx.field(static=True)
    coordinate: str = eqx.field(static=True)

    def relative(self, model, moving):
        return relative(model, moving, self.bearing, self.journal, self.connection)

    def value_and_rate(self, model, moving, memory):
        """The coordinate (spin unwrapped) and its rate."""
        value, rate = coordinate_and_rate(self.coordinate, self.relative(model, moving))
        if self.coordinate == "spin":
            value = unwrap(value, memory.spin[self.connection])
        return value, rate

    def row(self, model, moving):
        """Wrench on (bearing, journal) of a unit generalised force on the coordinate; its power is the rate."""
        rel = self.relative(model, moving)
        force, moment = coordinate_gradient(self.coordinate, rel)
        frame = moving.orientation[self.bearing] @ model.bearing_axes[self.connection]
        arm = rotate(moving.orientation[self.journal], model.journal_point[self.connection])
        force, moment = frame @ force, frame @ moment
        reach = moving.position[self.journal] + arm - moving.position[self.bearing]
        return jnp.stack(
            [
                jnp.concatenate([-force, -cross(reach, force) - moment]),
                jnp.concatenate([force, cross(arm, force) + moment]),
            ]
        )

    @property
    def bodies(self):
        return (self.bearing, self.journal)


def joint_site(places, connection, coordinate):
    bearing, journal = places.sides(connection)
    return JointSite(places.connections[connection], bearing, journal, coordinate)
