import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import number
from ...rotation import cross
from ..normal.elastic import check_positive
from .base import AbstractFilm

_B = np.array([0.0, 0.0, 1.0])


class ShortFilm(AbstractFilm):
    """Short bearing (Ocvirk), wedge and squeeze together.

    Pressure integrated along the axis: mu L^3 / (2 c^2) (A sin th - B cos th) / (1 + eps cos th)^3 with A = eps times
    (spin - 2 x turning of the line of centres), B = 2 eps_dot, th from the widest gap. With `cavitation` (default)
    only the half circle under pressure counts, wherever it lies (Gumbel); else the whole. Integrals in closed form by
    Sommerfeld's substitution. Short means length below half a diameter. No value at eps >= 1. No friction torque.
    """

    viscosity: np.ndarray = eqx.field(converter=number, metadata={"unit": "Pa*s"})  # Pa s
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    extra: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "m"})  # m
    cavitation: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        check_positive(self, "viscosity", "length")

    def force(self, eccentricity, velocity, spin, radius, clearance):
        gap = clearance + self.extra
        size = smooth.norm(eccentricity)
        centred = size == 0
        radial = jnp.where(centred, np.array([1.0, 0.0, 0.0]), smooth.direction(eccentricity))
        tangent = cross(_B, radial)
        eps = size / gap
        a = spin * eps - 2 * jnp.dot(tangent, velocity) / gap
        b = 2 * jnp.dot(radial, velocity) / gap
        s2 = 1 - eps * eps
        s = jnp.sqrt(s2)
        if self.cavitation:
            start = smooth.angle(b, a)
            low = self._sommerfeld(start, eps, s)
            high = self._sommerfeld(start + jnp.pi, eps, s)
            high = jnp.where(high < low, high + 2 * jnp.pi, high)
        else:
            low, high = -jnp.pi, jnp.pi

        def integral(g):
            """Antiderivatives of cos^2, sin cos and sin^2 of th over (1 + eps cos th)^3 in Sommerfeld's angle."""
            sine, cosine = jnp.sin(g), jnp.cos(g)
            square = (0.5 * g + 0.5 * sine * cosine - 2 * eps * sine + eps * eps * g) / (s2 * s2 * s)
            mixed = (0.5 * sine * sine + eps * cosine) / (s2 * s2)
            return square, mixed, 0.5 * (g - sine * cosine) / (s2 * s)

        cc, sc, ss = (x - y for x, y in zip(integral(high), integral(low), strict=True))
        scale = self.viscosity * radius * self.length**3 / (2 * gap**2)
        return scale * ((a * sc - b * cc) * radial + (a * ss - b * sc) * tangent)

    def _sommerfeld(self, angle, eps, s):
        return smooth.angle(s * jnp.sin(angle), eps + jnp.cos(angle))

    def slenderness(self, radius):
        return self.length / (2 * radius), 0.0, 0.5
