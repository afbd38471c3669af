from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp

from .base import AbstractMeasure


class Custom(AbstractMeasure):
    """A function of the trajectory, traceable by JAX, that returns one number per name."""

    names: tuple[str, ...] = eqx.field(static=True, converter=lambda x: (x,) if isinstance(x, str) else tuple(x))
    function: Callable = eqx.field(static=True)
    room: int = eqx.field(static=True, default=0)  # rows of the log of contacts, if the function looks at it

    @property
    def events(self):
        return self.room

    def labels(self):
        return self.names

    def __call__(self, trajectory):
        found = jnp.atleast_1d(jnp.asarray(self.function(trajectory), dtype=float))
        if found.shape != (len(self.names),):
            raise ValueError(f"Measure {self.names}: the function returned shape {found.shape}.")
        return found
