from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number
from ..rotation import cross
from ..signal import AbstractSignal, Constant
from .base import AbstractElement, AbstractLoad, JointSite, joint_site


class Motor(AbstractElement):
    """Motor behind a gear on a joint coordinate: torque on its rotor, and the rotor's inertia as the joint feels it.

    Joint torque = gear x torque - gear^2 x rotor_inertia x (acceleration of the coordinate). The rotor's own
    gyroscopic moment and its weight are not modelled (count its mass in the body that carries it).
    """

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True, default="spin")
    torque: AbstractSignal = Constant(0.0)  # N m on the rotor
    gear: np.ndarray = eqx.field(converter=number, default=1.0)  # rotor turns per turn of the joint
    rotor_inertia: np.ndarray = eqx.field(converter=number, default=0.0)  # kg m^2 about the rotor's axis

    def __check_init__(self):
        if is_concrete(self.rotor_inertia) and self.rotor_inertia < 0:
            raise ValueError(f"Motor `{self.name}`: rotor_inertia {float(self.rotor_inertia):g} must not be negative.")

    def attaches_to(self):
        return (), ((self.connection, self.coordinate),)

    def bind(self, places):
        site = joint_site(places, self.connection, self.coordinate)
        return _Motor(site, self.torque.prepared(), jnp.asarray(self.gear), jnp.asarray(self.rotor_inertia))

    def knots(self):
        return self.torque.knots()


class _Motor(AbstractLoad):
    site: JointSite
    torque: Callable
    gear: jax.Array
    rotor_inertia: jax.Array

    def wrenches(self, model, moving, memory, t):
        return self.site.bodies, self.gear * self.torque(t) * self.site.row(model, moving)

    def stored(self, model, moving, memory, t):
        """Kinetic energy of the rotor."""
        _, rate = self.site.value_and_rate(model, moving, memory)
        return 0.5 * self.rotor_inertia * (self.gear * rate) ** 2

    def dissipated(self, model, moving, memory, t):
        return jnp.zeros(())

    def supplied(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self.gear * self.torque(t) * rate

    def rotors(self, model, moving):
        reflected = self.gear**2 * self.rotor_inertia
        return ((self.site.bodies, self.site.row(model, moving), reflected, -self._drift(model, moving)),)

    def _drift(self, model, moving):
        """The coordinate's acceleration when no body accelerates: derivative of its rate along the motion."""

        def rate(position, orientation):
            here = eqx.tree_at(lambda m: (m.position, m.orientation), moving, (position, orientation))
            return jnp.sum(
                self.site.row(model, here)
                * jnp.concatenate([here.velocity, here.angular], axis=-1)[np.asarray(self.site.bodies)]
            )

        turning = jnp.swapaxes(cross(moving.angular[:, None, :], jnp.swapaxes(moving.orientation, -1, -2)), -1, -2)
        return jax.jvp(rate, (moving.position, moving.orientation), (moving.velocity, turning))[1]
