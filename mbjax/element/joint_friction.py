from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number
from .base import AbstractElement, AbstractLoad, JointSite, joint_site


class JointFriction(AbstractElement):
    """Friction on a joint coordinate: -(viscous rate + (dry + breakaway e) s(rate / speed)).

    e is exp(-(rate / stribeck_speed)^2), s is tanh or (2/pi) arctan: both shapes tend to the sign as `speed` -> 0 and
    have a finite slope at rest, so there is no true sticking: a loaded joint creeps at a fraction of `speed`.
    `breakaway` is what slow motion adds to `dry` (Stribeck; choose `speed` well below `stribeck_speed`). `dry` is a
    constant force or torque; it does not follow the reaction in the joint.
    """

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True)
    viscous: np.ndarray = eqx.field(converter=number, default=0.0)  # N s/m or N m s/rad
    dry: np.ndarray = eqx.field(converter=number, default=0.0)  # N or N m
    speed: np.ndarray = eqx.field(converter=number, default=1e-2)  # m/s or rad/s
    shape: Literal["tanh", "arctan"] = eqx.field(static=True, default="tanh")
    breakaway: np.ndarray = eqx.field(converter=number, default=0.0)  # N or N m
    stribeck_speed: np.ndarray = eqx.field(converter=number, default=1e-1)  # m/s or rad/s

    def __check_init__(self):
        if self.shape not in ("tanh", "arctan"):
            raise ValueError(f"JointFriction `{self.name}`: shape {self.shape!r}; choose `tanh` or `arctan`.")
        for label in ("speed", "stribeck_speed"):
            value = getattr(self, label)
            if is_concrete(value) and not value > 0:
                raise ValueError(f"JointFriction `{self.name}`: {label} {float(value):g} must be positive.")
        for label in ("viscous", "dry", "breakaway"):
            value = getattr(self, label)
            if is_concrete(value) and value < 0:
                raise ValueError(f"JointFriction `{self.name}`: {label} {float(value):g} would drive the joint.")

    def attaches_to(self):
        return (), ((self.connection, self.coordinate),)

    def bind(self, places):
        site = joint_site(places, self.connection, self.coordinate)
        numbers = (self.viscous, self.dry, self.speed, self.breakaway, self.stribeck_speed)
        return _Drag(site, *(jnp.asarray(x) for x in numbers), self.shape)

    def knots(self):
        return np.zeros(0)


class _Drag(AbstractLoad):
    site: JointSite
    viscous: jax.Array
    dry: jax.Array
    speed: jax.Array
    breakaway: jax.Array
    stribeck_speed: jax.Array
    shape: str = eqx.field(static=True)

    def _force(self, rate):
        x = rate / self.speed
        dry = self.dry + self.breakaway * jnp.exp(-((rate / self.stribeck_speed) ** 2))
        return self.viscous * rate + dry * (jnp.tanh(x) if self.shape == "tanh" else 2 / jnp.pi * jnp.arctan(x))

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
