import equinox as eqx
import jax.numpy as jnp
import numpy as np

from mbjax.array import number

from ..errors import StudyError
from .base import AbstractSensor, check_numbers
from .low_pass import AbstractFilter, Unfiltered

_AXES = ("x", "y", "z")


class Accelerometer(AbstractSensor):
    """Specific force along one axis of a marker: acceleration less gravity, +9.81 m/s^2 upward at rest.

    `gravity=False` leaves the gravity out (a sensor whose static part was removed). With v and w the marker's velocity
    and angular velocity in its own axes, the felt acceleration is v' + w x v - g. The filter sees v' as the parabola
    that has the true values at the samples and the true change of v between them: a contact's pulse counts in full even
    if it lies between samples.
    """

    marker: str = eqx.field(static=True)
    axis: str = eqx.field(static=True)
    filter: AbstractFilter = Unfiltered()
    gain: np.ndarray = eqx.field(converter=number, default=1.0)
    bias: np.ndarray = eqx.field(converter=number, default=0.0)  # m/s^2 x gain
    delay: np.ndarray = eqx.field(converter=number, default=0.0)  # s
    gravity: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        check_numbers(self)
        if self.axis not in _AXES:
            raise StudyError(f"Accelerometer: axis {self.axis!r} is unknown; choose x, y or z of the marker.")

    def channels(self):
        parts = [
            f"{self.marker}.{what}_local.{a}"
            for what in ("velocity", "angular_velocity", "acceleration")
            for a in _AXES
        ]
        if not self.gravity:
            return tuple(parts)
        return (*parts, f"{self.marker}.gravity_local.{self.axis}")

    def signals(self, values):
        velocity, spin = values[:, :3], values[:, 3:6]
        k = _AXES.index(self.axis)
        turning = jnp.cross(spin, velocity)[:, k]
        slope = values[:, 6 + k] - turning
        return velocity[:, k], slope, turning - values[:, 9] if self.gravity else turning
