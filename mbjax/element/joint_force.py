from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp

from ..signal import AbstractSignal
from .base import AbstractElement, AbstractLoad, JointSite, joint_site


class JointForce(AbstractElement):
    """A force or torque of given course on a joint coordinate (on the journal; the bearing gets the opposite)."""

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True)
    signal: AbstractSignal  # N or N m

    def attaches_to(self):
        return (), ((self.connection, self.coordinate),)

    def bind(self, places):
        return _JointForce(joint_site(places, self.connection, self.coordinate), self.signal.prepared())

    def knots(self):
        return self.signal.knots()


class _JointForce(AbstractLoad):
    site: JointSite
    signal: Callable

    def wrenches(self, model, moving, memory, t):
        return self.site.bodies, self.signal(t) * self.site.row(model, moving)

    def stored(self, model, moving, memory, t):
        return jnp.zeros(())

    def dissipated(self, model, moving, memory, t):
        return jnp.zeros(())

    def supplied(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self.signal(t) * rate

    def rotors(self, model, moving):
        return ()
