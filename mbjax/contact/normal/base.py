"""Normal laws: the force that pushes two surfaces apart, over depth and rate."""

from abc import abstractmethod

import equinox as eqx
import jax


class Press(eqx.Module):
    """A normal law's answer for each contact point of a pair, shape (points,)."""

    force: jax.Array  # N, positive pushes apart
    elastic: jax.Array  # N, the part that comes back
    stored: jax.Array  # J


class AbstractNormal(eqx.Module):
    """Normal law of a contact point, or of several layers behind one another (each with a mode of its own)."""

    layers: eqx.AbstractVar[int]  # static
    returns: eqx.AbstractVar[bool]  # static: tells loading from unloading
    jumps: eqx.AbstractVar[bool]  # static: the force jumps at a switch

    @abstractmethod
    def offsets(self):
        """Depth at which each layer begins, (layers,) m; 0 for the first."""

    @abstractmethod
    def press(self, depth, rate, points):
        """The `Press` at depth and rate (points,); `points` is the memory with leading axis (layers, points)."""
