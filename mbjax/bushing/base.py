"""What a part of a bushing must offer. Parts act side by side on the same six deflections."""

from abc import abstractmethod

import equinox as eqx
import jax


class Answer(eqx.Module):
    """A part's answer to deflections u (6,) and their rates: displacements h, t, b (m), rotations h, t, b (rad)."""

    force: jax.Array  # (6,) N and N m against the deflection
    stored: jax.Array  # () J
    dissipated: jax.Array  # () W
    rate: jax.Array  # (internal,) rates of the internal states


class AbstractBranch(eqx.Module):
    """A spring with memory. All internal states are 0 where it is relaxed; the rate of each depends on no other."""

    internal: eqx.AbstractVar[int]  # static

    @abstractmethod
    def act(self, u, u_rate, state):
        """The `Answer` at deflections, rates and internal states."""
