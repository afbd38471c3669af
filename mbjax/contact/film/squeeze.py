import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import is_concrete, number
from ..normal.elastic import check_positive
from .base import AbstractFilm


class SqueezeFilm(AbstractFilm):
    """Squeeze film of a long bearing (P2 34): f = 6 mu L R^3 eps_dot / c^2 I(eps) against the radial motion.

    Full film (default, as P2 uses it: it sucks when the journal leaves the wall): I = 2 pi / (1 - eps^2)^1.5. With
    `cavitation` only the half under pressure counts (Ravn): I = (2 e + 4 atan(sqrt((1 + e) / (1 - e))) / s) / s^2 with
    s^2 = 1 - eps^2 and e = +eps on approach, -eps on leaving; P2 33 integrated with R^2 for its R^3. `extra` (P2's e1)
    widens the clearance the film sees; `smoothing` > 0 rounds the corner that cavitation makes where the approach
    turns, over that speed. No force across the line of centres; long means length > 2 diameters. The
    law has no value at eps >= 1.
    """

    viscosity: np.ndarray = eqx.field(converter=number, metadata={"unit": "Pa*s"})  # Pa s
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    extra: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m"})  # m
    cavitation: bool = eqx.field(static=True, default=False)
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m/s"})  # m/s

    def __check_init__(self):
        check_positive(self, "viscosity", "length")
        if is_concrete(self.smoothing) and self.smoothing < 0:
            raise ValueError(f"SqueezeFilm: smoothing {float(self.smoothing):g} must not be negative.")

    def force(self, eccentricity, velocity, spin, radius, clearance):
        del spin
        gap = clearance + self.extra
        normal = smooth.direction(eccentricity)
        eps = smooth.norm(eccentricity) / gap
        rate = jnp.dot(normal, velocity) / gap
        square = 1 - eps * eps
        if self.cavitation:
            rounded = self.smoothing > 0
            side = smooth.sign(rate * gap, jnp.where(rounded, self.smoothing, 1.0))
            e = eps * jnp.where(rounded, side, jnp.where(rate > 0, 1.0, -1.0))
            root = jnp.sqrt(square)
            integral = (2 * e + 4 * jnp.arctan2(jnp.sqrt(1 + e), jnp.sqrt(1 - e)) / root) / square
        else:
            integral = 2 * jnp.pi / square**1.5
        return -6 * self.viscosity * self.length * radius**3 * rate / gap**2 * integral * normal

    def slenderness(self, radius):
        return self.length / (2 * radius), 2.0, np.inf
