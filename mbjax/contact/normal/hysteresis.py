"""Hysteresis factors: F = elastic (1 + chi rate / speed at touch). Each law is a formula for chi."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...array import is_concrete, number


class AbstractHysteresis(eqx.Module):
    """The factor chi of a continuous contact force."""

    @abstractmethod
    def factor(self):
        """chi, without dimension."""


def _check_restitution(law, lowest=0.0):
    e = law.restitution
    if is_concrete(e) and not lowest <= e <= 1:
        raise ValueError(f"{type(law).__name__}: restitution {float(e):g} must lie between {lowest:g} and 1.")


class NoHysteresis(AbstractHysteresis):
    """chi = 0: purely elastic."""

    def factor(self):
        return jnp.zeros(())


class HuntCrossley(AbstractHysteresis):
    """chi = 3 (1 - e) / 2."""

    restitution: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})

    def __check_init__(self):
        _check_restitution(self)

    def factor(self):
        return 1.5 * (1 - self.restitution)


class LankaraniNikravesh(AbstractHysteresis):
    """chi = 3 (1 - e^2) / 4 (P1 43, P2 25, P3 11, P5 8). For e near 1; `effective_restitution` says what you get."""

    restitution: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})

    def __check_init__(self):
        _check_restitution(self)

    def factor(self):
        return 0.75 * (1 - self.restitution**2)


class Flores(AbstractHysteresis):
    """chi = 8 (1 - e) / (5 e), for the whole range of e."""

    restitution: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})

    def __check_init__(self):
        _check_restitution(self, 1e-6)

    def factor(self):
        return 8 * (1 - self.restitution) / (5 * self.restitution)


class Gonthier(AbstractHysteresis):
    """chi = (1 - e^2) / e (Gonthier, McPhee, Lange and Piedboeuf, Multibody System Dynamics 11, 2004)."""

    restitution: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})

    def __check_init__(self):
        _check_restitution(self, 1e-6)

    def factor(self):
        return (1 - self.restitution**2) / self.restitution


CATALOGUE = (NoHysteresis, HuntCrossley, LankaraniNikravesh, Flores, Gonthier)
