import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import is_concrete, number
from ...joint.base import FREE, owns
from ...joint.revolute import Revolute
from .base import AbstractPair, Geometry
from .checks import check_positive, check_radius_and_clearance
from .ellipse import extreme_angle

_B = np.array([0.0, 0.0, 1.0])
_ENDS = np.array([1.0, -1.0])


class JournalInBearing(AbstractPair):
    """Journal in a bearing with lateral wall and both end planes (P4 1-23): radial and axial clearance.

    Four contact points: the outermost point of either end circle of the journal against the wall, and its foremost
    point against the end plane there. All 13 scenarios of P4 are these four points touching or not, with no case to
    be told apart: the force is continuous across alignment. An aligned journal rests on both its ends, each with the
    law's full force; P4 takes one line contact there, half as stiff, and jumps to full force at one end under the
    slightest tilt. An end that is flat on its plane within `flat_tilt` is pressed at its centre, not at its rim.
    """

    radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the bearing
    clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, radial
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, of the bearing
    axial_clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, at either end
    flat_tilt: np.ndarray = eqx.field(converter=number, default=1e-6, metadata={"unit": "rad"})  # rad
    points: int = eqx.field(static=True, init=False, default=4)

    def __check_init__(self):
        check_radius_and_clearance(self)
        check_positive(self, "length", "flat_tilt")
        if is_concrete(self.length, self.axial_clearance) and not 0 <= 2 * self.axial_clearance < self.length:
            raise ValueError(
                f"JournalInBearing: axial clearance {float(self.axial_clearance):g} m must not be negative and must "
                f"leave a journal inside the bearing ({float(self.length):g} m long)."
            )

    def point_names(self):
        return ("wall at +", "wall at -", "end +", "end -")

    def geometry(self, displacement, turn):
        inner = self.radius - self.clearance
        half = 0.5 * self.length - self.axial_clearance
        arms = half * _ENDS[:, None] * turn[:, 2]
        centres = displacement + arms
        # Against the wall: the point of the end circle that lies farthest from the bearing's axis.
        first, second = turn[:, 0], turn[:, 1]
        spread = jnp.broadcast_to(inner, (2, 1))
        angle = extreme_angle(centres[:, :2], spread * first[:2], spread * second[:2], centres[:, :2], -1.0)
        rim = inner * (jnp.cos(angle)[:, None] * first + jnp.sin(angle)[:, None] * second)
        outermost = centres + rim
        across = outermost * (1 - _B)
        outward = smooth.direction(across)
        wall = Geometry(
            smooth.norm(across) - self.radius,
            outward,
            self.radius * outward + outermost[:, 2:] * _B,
            arms + rim,
        )
        # Against the end planes: the foremost point of the end circle.
        normal = _ENDS[:, None] * _B
        axis = turn[:, 2]
        lean = normal - axis * turn[2, 2] * _ENDS[:, None]
        tilt = jnp.sqrt(jnp.sum(lean * lean, axis=-1, keepdims=True) + self.flat_tilt**2)
        rim = inner * lean / tilt
        foremost = centres + rim
        depth = _ENDS * foremost[:, 2] - 0.5 * self.length
        planes = Geometry(depth, jnp.asarray(normal), foremost * (1 - _B) + 0.5 * self.length * normal, arms + rim)
        return Geometry(
            *(jnp.concatenate([getattr(wall, f), getattr(planes, f)]) for f in Geometry.__dataclass_fields__)
        )

    def tolerance(self):
        radial = 1e-6 * self.clearance + 1e-12
        axial = 1e-6 * self.axial_clearance + 1e-12
        return jnp.stack([radial, radial, axial, axial])

    def motions(self):
        return owns("contact", "contact", "contact", FREE)

    def rows(self):
        return ()

    def ideal(self):
        return Revolute()
