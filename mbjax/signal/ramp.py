import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number
from .base import NO_KNOTS, AbstractSignal


class ConstantSpeed(AbstractSignal):
    """start + speed t."""

    speed: np.ndarray = eqx.field(converter=number)  # unit of the coordinate per second
    start: np.ndarray = eqx.field(converter=number, default=0.0)

    def __call__(self, t):
        return self.start + self.speed * t

    def prepared(self):
        return self

    def knots(self):
        return NO_KNOTS


class SmoothStep(AbstractSignal):
    """A ramp from `start` to `end` between two times, a quintic with zero rate and acceleration at both ends."""

    start: np.ndarray = eqx.field(converter=number)
    end: np.ndarray = eqx.field(converter=number)
    begin_time: np.ndarray = eqx.field(converter=number)  # s
    end_time: np.ndarray = eqx.field(converter=number)  # s

    def __check_init__(self):
        if is_concrete(self.begin_time, self.end_time) and not self.end_time > self.begin_time:
            raise ValueError(
                f"SmoothStep: end_time {self.end_time:g} s must be after begin_time {self.begin_time:g} s."
            )

    def __call__(self, t):
        x = jnp.clip((t - self.begin_time) / (self.end_time - self.begin_time), 0.0, 1.0)
        return self.start + (self.end - self.start) * x**3 * (10 - 15 * x + 6 * x * x)

    def prepared(self):
        return self

    def knots(self):
        return jnp.stack([self.begin_time, self.end_time])
