import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import array_of, is_concrete, number
from ...joint.base import FREE, owns
from ...joint.cylindrical import Cylindrical
from .base import AbstractPair, Geometry
from .checks import check_positive, check_radius_and_clearance
from .ellipse import extreme_angle


class CylinderInCylinder(AbstractPair):
    """Journal in a bearing that is cut into N circular strips (P1 25-42); axial motion and spin are free.

    Each strip is the circle of radius R at its middle; its contact point is the one closest to the journal's axis,
    exact for every tilt (P1 36 solved by Newton on one angle: the other two unknowns follow in closed form). The
    journal is at least as long as the bearing (P1's rule; a through shaft by default); a strip beyond the journal's end
    has no contact, which is a jump.
    `profile` adds to the radius strip by strip (surfaces of revolution, worn bearings).
    """

    radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the bearing
    clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, radial
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the bearing
    journal_length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    strips: int = eqx.field(static=True, default=4)
    profile: np.ndarray = eqx.field(converter=array_of(None), metadata={"unit": "m"})  # (strips,) m

    def __init__(self, radius, clearance, length, journal_length=np.inf, strips=4, profile=None):
        self.radius, self.clearance, self.length = number(radius), number(clearance), number(length)
        self.journal_length = number(journal_length)
        self.strips = int(strips)
        self.profile = np.zeros(self.strips) if profile is None else profile

    def __check_init__(self):
        check_radius_and_clearance(self)
        check_positive(self, "length", "journal_length")
        if self.strips < 1:
            raise ValueError(f"CylinderInCylinder: {self.strips} strips; at least one is needed.")
        if np.shape(self.profile) != (self.strips,):
            raise ValueError(
                f"CylinderInCylinder: the profile has shape {np.shape(self.profile)}; give one radius change for each "
                f"of the {self.strips} strips."
            )
        if is_concrete(self.length, self.journal_length) and self.journal_length < self.length:
            raise ValueError(
                f"CylinderInCylinder: the journal ({float(self.journal_length):g} m) must be at least as long as the "
                f"bearing ({float(self.length):g} m), or its strips do not reach; JournalInBearing is for the opposite."
            )

    @property
    def points(self):
        return self.strips

    def point_names(self):
        return tuple(f"strip {k + 1}" for k in range(self.strips))

    def geometry(self, displacement, turn):
        n = self.strips
        heights = (n - 1 - 2 * np.arange(n)) / (2 * n) * self.length
        radius = self.radius + self.profile
        # Everything in journal axes, seen along the journal's axis.
        centres = (heights[:, None] * np.array([0.0, 0.0, 1.0]) - displacement) @ turn
        first, second = turn[0], turn[1]  # the bearing's h and t in journal axes
        flat = [radius[:, None] * v[None, :2] for v in (first, second)]
        angle = extreme_angle(centres[:, :2], *flat, -centres[:, :2], 1.0)
        c, s = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
        rim = radius[:, None] * (c * first + s * second)
        on_bearing = centres + rim  # from the journal's frame point, journal axes
        across = on_bearing * np.array([1.0, 1.0, 0.0])
        normal = smooth.direction(across)
        height = on_bearing[:, 2]
        inner = self.radius - self.clearance
        reaches = jnp.abs(height) <= 0.5 * self.journal_length
        depth = jnp.where(reaches, inner - smooth.norm(across), -self.clearance - self.radius)
        on_journal = inner * normal + height[:, None] * np.array([0.0, 0.0, 1.0])
        to_bearing = turn.T
        return Geometry(depth, normal @ to_bearing, displacement + on_bearing @ to_bearing, on_journal @ to_bearing)

    def tolerance(self):
        return jnp.full(self.strips, 1e-6 * self.clearance + 1e-12)

    def motions(self):
        return owns("contact", FREE, "contact", FREE)

    def rows(self):
        return ()

    def ideal(self):
        return Cylindrical()
