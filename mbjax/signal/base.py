"""What a function of time must offer."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class AbstractSignal(eqx.Module):
    """A function of time; drivers also need its first and second derivative, which are derived from it."""

    @abstractmethod
    def __call__(self, t):
        """The value at time t."""

    @abstractmethod
    def prepared(self):
        """The same function with everything that does not depend on time worked out once."""

    @abstractmethod
    def knots(self):
        """Times where a derivative jumps (array): the integrator ends steps there. Empty for a smooth signal."""


def rates(signal, t):
    """Value, rate and acceleration of a signal at t."""
    t = jnp.asarray(t, dtype=float)
    one = jnp.ones_like(t)

    def value_and_rate(s):
        return jax.jvp(signal, (s,), (one,))

    (value, rate), (_, acceleration) = jax.jvp(value_and_rate, (t,), (one,))
    return value, rate, acceleration


NO_KNOTS = np.zeros(0)
