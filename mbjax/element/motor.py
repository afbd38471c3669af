from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number
from ..rotation import cross
from ..signal import AbstractSignal, Constant
from ..smooth import sign
from .base import AbstractElement, AbstractLoad, JointSite, joint_site


class Motor(AbstractElement):
    """Motor behind a gear on a joint coordinate: torque on its rotor, and the rotor's inertia as the joint feels it.

    Drive torque T = gear x torque_constant x torque; joint torque = T - loss |T| s(rate / loss_speed) - gear^2 x
    rotor_inertia x (acceleration of the coordinate). `torque` may be a measured current, with a torque constant to
    fit. `loss` is the share of the torque that rubs away in the gear, s the smooth sign of `JointFriction` (tanh). The
    rotor's own gyroscopic moment and its weight are not modelled (count its mass in the body that carries it).
    """

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True, default="spin")
    torque: AbstractSignal = Constant(0.0)  # N m on the rotor (over torque_constant)
    gear: np.ndarray = eqx.field(converter=number, default=1.0)  # rotor turns per turn of the joint
    rotor_inertia: np.ndarray = eqx.field(converter=number, default=0.0)  # kg m^2 about the rotor's axis
    torque_constant: np.ndarray = eqx.field(converter=number, default=1.0)  # rotor torque per unit of `torque`
    loss: np.ndarray = eqx.field(converter=number, default=0.0)  # share of the drive torque
    loss_speed: np.ndarray = eqx.field(converter=number, default=1e-2)  # of the joint, m/s or rad/s

    def __check_init__(self):
        if is_concrete(self.rotor_inertia) and self.rotor_inertia < 0:
            raise ValueError(f"Motor `{self.name}`: rotor_inertia {float(self.rotor_inertia):g} must not be negative.")
        if is_concrete(self.loss) and not 0 <= self.loss < 1:
            raise ValueError(f"Motor `{self.name}`: loss {float(self.loss):g} must be a share between 0 and 1.")
        if is_concrete(self.loss_speed) and not self.loss_speed > 0:
            raise ValueError(f"Motor `{self.name}`: loss_speed {float(self.loss_speed):g} must be positive.")

    def attaches_to(self):
        return (), ((self.connection, self.coordinate),)

    def bind(self, places):
        site = joint_site(places, self.connection, self.coordinate)
        numbers = (self.gear, self.rotor_inertia, self.torque_constant, self.loss, self.loss_speed)
        return _Motor(site, self.torque.prepared(), *(jnp.asarray(x) for x in numbers))

    def knots(self):
        return self.torque.knots()


class _Motor(AbstractLoad):
    site: JointSite
    torque: Callable
    gear: jax.Array
    rotor_inertia: jax.Array
    torque_constant: jax.Array
    loss: jax.Array
    loss_speed: jax.Array

    def _drive(self, t):
        return self.gear * self.torque_constant * self.torque(t)

    def _friction(self, rate, t):
        return self.loss * jnp.abs(self._drive(t)) * sign(rate, self.loss_speed)

    def wrenches(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self.site.bodies, (self._drive(t) - self._friction(rate, t)) * self.site.row(model, moving)

    def stored(self, model, moving, memory, t):
        """Kinetic energy of the rotor."""
        _, rate = self.site.value_and_rate(model, moving, memory)
        return 0.5 * self.rotor_inertia * (self.gear * rate) ** 2

    def dissipated(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self._friction(rate, t) * rate

    def supplied(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self._drive(t) * rate

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
