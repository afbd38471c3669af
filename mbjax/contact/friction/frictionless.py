import equinox as eqx
import jax.numpy as jnp

from .base import AbstractFriction


class Frictionless(AbstractFriction):
    """No tangential force."""

    bristles: int = eqx.field(static=True, init=False, default=0)

    def __call__(self, slip, normal, bristle):
        del normal
        return jnp.zeros_like(slip), bristle
