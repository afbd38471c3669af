import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import smooth
from ..array import is_concrete, number
from .base import AbstractBranch, Answer
from .matrix import six


class BoucWen(AbstractBranch):
    """Rate-independent hysteresis in each deflection: force k z with
    z_dot = u_dot - (b |u_dot| z |z|^(n-1) + (1 - b) u_dot |z|^n) / z_y^n, z_y = limit / k.

    The force never exceeds `limit`: stiff for small amplitudes, soft and lossy for large ones. A limit of 0 switches a
    deflection off.
    """

    stiffness: np.ndarray = eqx.field(converter=six)  # (6,) N/m, N m/rad
    limit: np.ndarray = eqx.field(converter=six)  # (6,) N, N m
    exponent: np.ndarray = eqx.field(converter=number, default=1.0, metadata={"unit": "1"})
    shape: np.ndarray = eqx.field(converter=number, default=0.5, metadata={"unit": "1"})  # b
    internal: int = eqx.field(static=True, init=False, default=6)

    def __check_init__(self):
        if is_concrete(self.stiffness, self.limit) and ((self.stiffness < 0).any() or (self.limit < 0).any()):
            raise ValueError("BoucWen: stiffness and limit must not be negative.")
        if is_concrete(self.exponent) and not self.exponent >= 1:
            raise ValueError(f"BoucWen: exponent {float(self.exponent):g} must be at least 1.")
        if is_concrete(self.shape) and not 0.5 <= self.shape <= 1:
            raise ValueError(f"BoucWen: shape {float(self.shape):g} must lie between 0.5 and 1 (else it makes energy).")

    def act(self, u, u_rate, state):
        del u
        on = (self.limit > 0) & (self.stiffness > 0)
        force = jnp.where(on, self.stiffness * state, 0.0)
        filled = smooth.over(jnp.abs(force), jnp.where(on, self.limit, 0.0))  # |z| / z_y
        share = smooth.power(filled, self.exponent)
        loss = self.shape * jnp.abs(u_rate) * jnp.sign(state) + (1 - self.shape) * u_rate
        rate = jnp.where(on, u_rate - loss * share, 0.0)
        return Answer(force, 0.5 * jnp.dot(force, state), jnp.dot(force, u_rate - rate), rate)
