"""What lies between two surfaces: nothing but their roughness (dry), a film, or both."""

from abc import abstractmethod

import equinox as eqx


class AbstractInterface(eqx.Module):
    """Turns the geometry of a pair into forces. Static counts depend on structure only."""

    layers: eqx.AbstractVar[int]  # contact points per point of the pair, one behind the other; 0 without contact
    bristles: eqx.AbstractVar[int]  # internal states per point of the pair
    returns: eqx.AbstractVar[bool]
    jumps: eqx.AbstractVar[bool]
    silent: eqx.AbstractVar[bool]  # whether nothing acts while all points are open

    def corner_speeds(self):
        """Of the friction law: `AbstractFriction.corner_speeds`."""
        return ()

    @abstractmethod
    def remarks(self, pair):
        """Warnings: where this interface between the surfaces of `pair` leaves its validity."""

    @abstractmethod
    def offsets(self):
        """Depth at which each layer begins, (layers,) m."""

    @abstractmethod
    def act(self, pair, relative, points, internal):
        """`Effect` of the interface; memory `points` is (layers, points), `internal` (points, bristles)."""
