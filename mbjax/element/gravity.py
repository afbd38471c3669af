import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import vector
from .base import AbstractElement, AbstractLoad


class Gravity(AbstractElement):
    """Uniform gravity on all bodies: force m g at each mass centre; potential energy -m g . r."""

    acceleration: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, -9.81))  # m/s^2
    name: str = eqx.field(static=True, default="gravity")

    def attaches_to(self):
        return (), ()

    def bind(self, places):
        return _Weight(jnp.asarray(self.acceleration), tuple(range(len(places.all_bodies()))))

    def knots(self):
        return np.zeros(0)


def total_gravity(elements):
    """The field of all elements together, m/s^2."""
    return sum((e.acceleration for e in elements if isinstance(e, Gravity)), np.zeros(3))


class _Weight(AbstractLoad):
    acceleration: jax.Array
    bodies: tuple[int, ...] = eqx.field(static=True)

    def wrenches(self, model, moving, memory, t):
        force = jnp.asarray(model.mass)[:, None] * self.acceleration
        return self.bodies, jnp.concatenate([force, jnp.zeros_like(force)], axis=-1)

    def stored(self, model, moving, memory, t):
        return -jnp.sum(model.mass * (moving.position[: len(self.bodies)] @ self.acceleration))

    def dissipated(self, model, moving, memory, t):
        return jnp.zeros(())

    def supplied(self, model, moving, memory, t):
        return jnp.zeros(())

    def rotors(self, model, moving):
        return ()
