import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .base import AbstractElement, AbstractLoad, JointSite, joint_site
from .characteristic import AbstractCharacteristic


class JointSpring(AbstractElement):
    """Spring and damper on a joint coordinate: torsional on `spin` or a tilt, along the axis on `axial`.

    `spin` is unwrapped, so a torsional spring can be wound up over several turns.
    """

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True)
    characteristic: AbstractCharacteristic

    def attaches_to(self):
        return (), ((self.connection, self.coordinate),)

    def bind(self, places):
        site = joint_site(places, self.connection, self.coordinate)
        return _JointSpring(site, jax.tree.map(jnp.asarray, self.characteristic))

    def knots(self):
        return np.zeros(0)


class _JointSpring(AbstractLoad):
    site: JointSite
    characteristic: AbstractCharacteristic

    def wrenches(self, model, moving, memory, t):
        value, rate = self.site.value_and_rate(model, moving, memory)
        x = value - self.characteristic.rest
        force = -(self.characteristic.elastic(x) + self.characteristic.damping(x, rate))
        return self.site.bodies, force * self.site.row(model, moving)

    def stored(self, model, moving, memory, t):
        value, _ = self.site.value_and_rate(model, moving, memory)
        return self.characteristic.energy(value - self.characteristic.rest)

    def dissipated(self, model, moving, memory, t):
        value, rate = self.site.value_and_rate(model, moving, memory)
        return self.characteristic.damping(value - self.characteristic.rest, rate) * rate

    def supplied(self, model, moving, memory, t):
        return jnp.zeros(())

    def rotors(self, model, moving):
        return ()
