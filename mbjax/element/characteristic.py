"""Spring characteristics: elastic force and damping over deflection and rate. Positive force resists stretching."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import array_of, is_concrete, number


class AbstractCharacteristic(eqx.Module):
    """Deflection x = coordinate - rest; the force on the coordinate is -(elastic(x) + damping(x, rate))."""

    rest: eqx.AbstractVar[np.ndarray]

    @abstractmethod
    def elastic(self, x):
        """Elastic force, N or N m, including preload."""

    @abstractmethod
    def energy(self, x):
        """Integral of the elastic force from x = 0, J."""

    @abstractmethod
    def damping(self, x, rate):
        """Damping force, N or N m, of the sign of the rate."""


class Linear(AbstractCharacteristic):
    """stiffness x + preload + damping rate."""

    stiffness: np.ndarray = eqx.field(converter=number)  # N/m or N m/rad
    damping_coefficient: np.ndarray = eqx.field(converter=number, default=0.0)  # N s/m or N m s/rad
    rest: np.ndarray = eqx.field(converter=number, default=0.0)  # m or rad
    preload: np.ndarray = eqx.field(converter=number, default=0.0)  # N or N m at x = 0

    def elastic(self, x):
        return self.stiffness * x + self.preload

    def energy(self, x):
        return 0.5 * self.stiffness * x * x + self.preload * x

    def damping(self, x, rate):
        return self.damping_coefficient * rate


class Polynomial(AbstractCharacteristic):
    """c1 x + c2 x^2 + c3 x^3 + ... + preload, with linear damping."""

    coefficients: np.ndarray = eqx.field(converter=array_of(None))  # N/m, N/m^2, ...
    damping_coefficient: np.ndarray = eqx.field(converter=number, default=0.0)
    rest: np.ndarray = eqx.field(converter=number, default=0.0)
    preload: np.ndarray = eqx.field(converter=number, default=0.0)

    def elastic(self, x):
        powers = jnp.stack([x ** (k + 1) for k in range(self.coefficients.shape[0])])
        return jnp.dot(self.coefficients, powers) + self.preload

    def energy(self, x):
        powers = jnp.stack([x ** (k + 2) / (k + 2) for k in range(self.coefficients.shape[0])])
        return jnp.dot(self.coefficients, powers) + self.preload * x

    def damping(self, x, rate):
        return self.damping_coefficient * rate


class Tabulated(AbstractCharacteristic):
    """Measured force over deflection, straight lines between the points and beyond the ends; linear damping."""

    deflections: np.ndarray = eqx.field(converter=array_of(None))  # m or rad, increasing
    forces: np.ndarray = eqx.field(converter=array_of(None))  # N or N m
    damping_coefficient: np.ndarray = eqx.field(converter=number, default=0.0)
    rest: np.ndarray = eqx.field(converter=number, default=0.0)

    def __check_init__(self):
        if self.deflections.shape != self.forces.shape or self.deflections.shape[0] < 2:
            raise ValueError("Tabulated spring: give as many forces as deflections, at least two.")
        if is_concrete(self.deflections) and not (np.diff(self.deflections) > 0).all():
            raise ValueError("Tabulated spring: deflections must increase.")

    def _segment(self, x):
        k = jnp.clip(jnp.searchsorted(self.deflections, x, side="right") - 1, 0, self.deflections.shape[0] - 2)
        x0, x1 = jnp.asarray(self.deflections)[k], jnp.asarray(self.deflections)[k + 1]
        f0, f1 = jnp.asarray(self.forces)[k], jnp.asarray(self.forces)[k + 1]
        return k, x0, f0, (f1 - f0) / (x1 - x0)

    def elastic(self, x):
        _, x0, f0, slope = self._segment(x)
        return f0 + slope * (x - x0)

    def energy(self, x):
        return self._primitive(x) - self._primitive(jnp.zeros_like(x))

    def _primitive(self, x):
        steps = 0.5 * jnp.diff(self.deflections) * (self.forces[1:] + self.forces[:-1])
        before = jnp.concatenate([jnp.zeros(1), jnp.cumsum(steps)])
        k, x0, f0, slope = self._segment(x)
        return before[k] + f0 * (x - x0) + 0.5 * slope * (x - x0) ** 2

    def damping(self, x, rate):
        return self.damping_coefficient * rate


CATALOGUE = (Linear, Polynomial, Tabulated)
