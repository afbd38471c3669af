import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import smooth
from ..array import vector
from ..frame import point_in_body
from ..rotation import cross, rotate
from .base import AbstractElement, AbstractLoad
from .characteristic import AbstractCharacteristic


class SpringDamper(AbstractElement):
    """Spring and damper along the line between a point on either body.

    The characteristic's `rest` is the free length; its force pulls the points together when the line is stretched.
    Points are in body coordinates, or global at t0 with `in_body=False`.
    """

    name: str = eqx.field(static=True)
    body_1: str = eqx.field(static=True)
    body_2: str = eqx.field(static=True)
    characteristic: AbstractCharacteristic
    point_1: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # m
    point_2: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # m
    in_body: bool = eqx.field(static=True, default=True)

    def attaches_to(self):
        return (self.body_1, self.body_2), ()

    def bind(self, places):
        points = [
            jnp.asarray(point_in_body(point, self.in_body, *places.poses[body]))
            for body, point in ((self.body_1, self.point_1), (self.body_2, self.point_2))
        ]
        bodies = (places.bodies[self.body_1], places.bodies[self.body_2])
        return _Line(bodies, jnp.stack(points), jax.tree.map(jnp.asarray, self.characteristic))

    def knots(self):
        return np.zeros(0)


class _Line(AbstractLoad):
    bodies: tuple[int, int] = eqx.field(static=True)
    points: jax.Array
    characteristic: AbstractCharacteristic

    def _stretch(self, moving):
        """Arms, direction (from 1 to 2), length and its rate. A line of zero length has no direction: no force."""
        index = np.asarray(self.bodies)
        arms = rotate(moving.orientation[index], self.points)
        ends = moving.position[index] + arms
        speeds = moving.velocity[index] + cross(moving.angular[index], arms)
        along = smooth.direction(ends[1] - ends[0])
        return arms, along, smooth.norm(ends[1] - ends[0]), jnp.dot(along, speeds[1] - speeds[0])

    def wrenches(self, model, moving, memory, t):
        arms, along, length, rate = self._stretch(moving)
        x = length - self.characteristic.rest
        tension = self.characteristic.elastic(x) + self.characteristic.damping(x, rate)
        force = tension * jnp.stack([along, -along])
        return self.bodies, jnp.concatenate([force, cross(arms, force)], axis=-1)

    def stored(self, model, moving, memory, t):
        _, _, length, _ = self._stretch(moving)
        return self.characteristic.energy(length - self.characteristic.rest)

    def dissipated(self, model, moving, memory, t):
        _, _, length, rate = self._stretch(moving)
        return self.characteristic.damping(length - self.characteristic.rest, rate) * rate

    def supplied(self, model, moving, memory, t):
        return jnp.zeros(())

    def rotors(self, model, moving):
        return ()
