"""Policies of continuous contact forces: what the rate ratio may be, and whether a contact may pull."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp

from ...law import SLOWEST_START


class AbstractRatio(eqx.Module):
    """What the rate over the latched speed at touch may be."""

    @abstractmethod
    def limit(self, rate, inverse_speed):
        """The ratio that enters the law; `inverse_speed` is that at touch."""


class Raw(AbstractRatio):
    """No limit (as P2 and P3 use the law)."""

    def limit(self, rate, inverse_speed):
        return rate * inverse_speed


class Clip(AbstractRatio):
    """1 when the rate exceeds the speed at touch, or when that is about 0 (P1's text under 43; here below 1 mm/s).

    By the second half a contact that starts at rest dissipates nothing, against P1's own figure 13.
    """

    def limit(self, rate, inverse_speed):
        at_rest = inverse_speed > 0.999 / SLOWEST_START
        return jnp.where(at_rest, 1.0, jnp.minimum(rate * inverse_speed, 1.0))


class Symmetric(AbstractRatio):
    """|ratio| <= 1 (default): no contact pulls harder than its own elasticity pushes."""

    def limit(self, rate, inverse_speed):
        return jnp.clip(rate * inverse_speed, -1.0, 1.0)


class AbstractTension(eqx.Module):
    """Whether a contact may pull."""

    @abstractmethod
    def limit(self, force):
        """The force that acts."""


class Allowed(AbstractTension):
    """The law's own force, also where it pulls on unloading (P2, P3)."""

    def limit(self, force):
        return force


class Cut(AbstractTension):
    """Never below zero (P1, P4, P5; default)."""

    def limit(self, force):
        return jnp.maximum(force, 0.0)


CATALOGUE = (Raw, Clip, Symmetric, Allowed, Cut)
