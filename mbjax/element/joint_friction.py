from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number
from .base import AbstractElement, AbstractLoad, JointSite, joint_site


class JointFriction(AbstractElement):
    """Friction on a joint coordinate: -(viscous rate + dry s(rate / speed)).

    s is tanh or (2/pi) arctan: both tend to the sign as `speed` -> 0 and have a finite slope at rest, so there is no
    true sticking: a loaded joint creeps at a fraction of `speed`. `dry` is a constant force or torque; it does not
    follow the reaction in the joint.
    """

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True)
    viscous: np.ndarray = eqx.field(converter=number, default=0.0)  # N s/m or N m s/rad
    dry: np.ndarray = eqx.field(converter=number, default=0.0)  # N or N m
    speed: np.ndarray = eqx.field(converter=number, default=1e-2)  # m/s or rad/s
    shape: Literal["tanh", "arctan"] = eqx.field(static=True, default="tanh")

    def __check_init__(self):
        if self.shape not in ("tanh", "arctan"):
            raise ValueError(f"JointFriction `{self.name}`: shape {self.shape!r}; choose `tanh` or `arctan`.")
        if is_concrete(self.speed) and not self.speed > 0:
            raise ValueError(f"JointFriction `{self.name}`: speed {float(self.speed):g} must be positive.")
        for label in ("viscous", "dry"):
            value = getattr(self, label)
            if is_concrete(value) and value < 0:
                raise ValueError(f"JointFriction `{self.name}`: {label} {float(value):g} would drive the joint.")

    def attaches_to(self):
        return (), ((self.connection, self.coordinate),)

    def bind(self, places):
        site = joint_site(places, self.connection, self.coordinate)
        return _Drag(site, *(jnp.asarray(x) for x in (self.viscous, self.dry, self.speed)), self.shape)

    def knots(self):
        return np.zeros(0)


class _Drag(AbstractLoad):
    site: JointSite
    viscous: jax.Array
    dry: jax.Array
    speed: jax.Array
    shape: str = eqx.field(static=True)

    def _force(self, rate):
        x = rate / self.speed
        return self.viscous * rate + self.dry * (jnp.tanh(x) if self.shape == "tanh" else 2 / jnp.pi * jnp.arctan(x))

    def wrenches(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self.site.bodies, -self._force(rate) * self.site.row(model, moving)

    def stored(self, model, moving, memory, t):
        return jnp.zeros(())

    def dissipated(self, model, moving, memory, t):
        _, rate = self.site.value_and_rate(model, moving, memory)
        return self._force(rate) * rate

    def supplied(self, model, moving, memory, t):
        return jnp.zeros(())

    def rotors(self, model, moving):
        return ()
