"""Elastic parts of normal laws: force over depth, and the energy stored.

Depths handed in are never negative. For angular contact read N m and rad for N and m.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import array_of, is_concrete, number


class AbstractElastic(eqx.Module):
    """Force (N) and energy (J) at a depth (m)."""

    @abstractmethod
    def force(self, depth):
        """Force at a depth."""

    @abstractmethod
    def energy(self, depth):
        """Integral of the force from 0 to the depth."""


def check_positive(law, *fields):
    for field in fields:
        value = getattr(law, field)
        if is_concrete(value) and not value > 0:
            raise ValueError(f"{type(law).__name__}: {field} {float(value):g} must be positive.")


class Linear(AbstractElastic):
    """F = K d."""

    stiffness: np.ndarray = eqx.field(converter=number, metadata={"unit": "F/Q"})  # N/m

    def __check_init__(self):
        check_positive(self, "stiffness")

    def force(self, depth):
        return self.stiffness * depth

    def energy(self, depth):
        return 0.5 * self.stiffness * depth * depth


class Hertz(AbstractElastic):
    """F = K d^n (P2 22, P3 8)."""

    stiffness: np.ndarray = eqx.field(converter=number)  # N/m^n: no unit can be written in a model file
    exponent: np.ndarray = eqx.field(converter=number, default=1.5, metadata={"unit": "1"})

    def __check_init__(self):
        check_positive(self, "stiffness", "exponent")

    def force(self, depth):
        return self.stiffness * smooth.power(depth, self.exponent)

    def energy(self, depth):
        n = self.exponent + 1
        return self.stiffness * smooth.power(depth, n) / n


class Pereira(AbstractElastic):
    """Pereira's cylinder law (P1 44-48): F = (a DR + b) L E* / DR d^n.

    Internal contact a .965, b .0965, n = Y DR^-0.005 with DR in millimetres in (47) and (48), external a .39, b .85,
    n 1.094. As printed the stiffness carries the unit of d in millimetres: F = (a DR + b) L E* / DR d^n holds with all
    lengths in mm and E* in N/mm^2, which is what this class does. Valid for DR from 0.005 to 10 mm (48); P1's own
    cases at 0 and 1e-3 mm lie outside and are refused.
    """

    clearance: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m, DR: difference or sum of radii
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    modulus: np.ndarray = eqx.field(converter=number, metadata={"unit": "Pa"})  # Pa, composite E*
    internal: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        check_positive(self, "clearance", "length", "modulus")
        if self.internal and is_concrete(self.clearance) and not 5e-6 <= self.clearance <= 10e-3:
            raise ValueError(
                f"Pereira: clearance {float(self.clearance):g} m lies outside 0.005 to 10 mm, where P1 48 is defined."
            )

    def _stiffness_and_exponent(self):
        gap = 1e3 * self.clearance  # mm
        if self.internal:
            narrow = 1.51 * jnp.log(jnp.maximum(1000 * gap, 1.0 + 1e-9)) ** -0.151
            y = jnp.where(gap <= 0.34954, narrow, 0.0151 * gap + 1.151)
            a, b, n = 0.965, 0.0965, y * gap**-0.005
        else:
            a, b, n = 0.39, 0.85, jnp.asarray(1.094)
        stiffness = (a * gap + b) * (1e3 * self.length) * (1e-6 * self.modulus) / gap  # N/mm^n
        return stiffness, n

    def force(self, depth):
        stiffness, n = self._stiffness_and_exponent()
        return stiffness * smooth.power(1e3 * depth, n)

    def energy(self, depth):
        stiffness, n = self._stiffness_and_exponent()
        return 1e-3 * stiffness * smooth.power(1e3 * depth, n + 1) / (n + 1)


def _implicit_force(compliance, argument, depth):
    """Force f with depth = f c (ln(argument / f) + 1), on the branch that starts at 0; derivatives implicit.

    With f = argument x: depth / (c argument) = x (1 - ln x), which rises up to 1 at x = 1, where the law ends.
    """
    target = depth / (compliance * argument)
    x = target_root(target)
    return argument * x


@jax.custom_jvp
def target_root(target):
    """x in [0, 1] with x (1 - ln x) = target; NaN beyond target 1, where the law has no solution."""

    def halve(bounds, _):
        low, high = bounds
        middle = 0.5 * (low + high)
        short = jnp.exp(middle) * (1 - middle) < t
        return (jnp.where(short, middle, low), jnp.where(short, high, middle)), None

    t = jnp.where(target > 0, target, 1e-300)
    start = (jnp.full_like(t, -700.0), jnp.zeros_like(t))
    (low, high), _ = jax.lax.scan(halve, start, None, length=60)
    x = jnp.exp(0.5 * (low + high))
    x = x - smooth.over(x * (1 - jnp.log(x)) - t, -jnp.log(x))
    return jnp.where(target > 1, jnp.nan, jnp.where(target > 0, x, 0.0))


@target_root.defjvp
def _(primals, tangents):
    x = target_root(*primals)
    inside = x > 0
    slope = -jnp.log(jnp.where(inside, x, 0.5))
    return x, jnp.where(inside, smooth.over(tangents[0], slope), 0.0)


class DubowskyFreudenstein(AbstractElastic):
    """Dubowsky and Freudenstein's pin in a hole (P2 26), implicit in the force:
    d = F (s_i + s_j) / L [ln(L^3 (R_i - R_j) / (F R_i R_j (s_i + s_j))) + 1] with s = (1 - nu^2) / (pi E).

    The law ends where its slope becomes infinite (F = L^3 (R_i - R_j) / (R_i R_j (s_i + s_j))): NaN beyond.
    """

    bearing_radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    journal_radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    compliance: np.ndarray = eqx.field(converter=number, metadata={"unit": "1/Pa"})  # 1/Pa, s_i + s_j

    def __check_init__(self):
        check_positive(self, "bearing_radius", "journal_radius", "length", "compliance")

    def force(self, depth):
        gap = self.bearing_radius - self.journal_radius
        end = self.length**3 * gap / (self.bearing_radius * self.journal_radius * self.compliance)
        return _implicit_force(self.compliance / self.length, end, depth)

    def energy(self, depth):
        return _implicit_energy(self.compliance / self.length, self.force(depth), depth)


class Esdu78035(AbstractElastic):
    """ESDU 78035 for a pin in a hole (P2 27), implicit in the force:
    d = F (s_i + s_j) / L [ln(4 L (R_i - R_j) / (F (s_i + s_j))) + 1] with s = (1 - nu^2) / (pi E).

    The law ends where its slope becomes infinite (F = 4 L (R_i - R_j) / (s_i + s_j)): NaN beyond.
    """

    bearing_radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    journal_radius: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    length: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    compliance: np.ndarray = eqx.field(converter=number, metadata={"unit": "1/Pa"})  # 1/Pa, s_i + s_j

    def __check_init__(self):
        check_positive(self, "bearing_radius", "journal_radius", "length", "compliance")

    def force(self, depth):
        end = 4 * self.length * (self.bearing_radius - self.journal_radius) / self.compliance
        return _implicit_force(self.compliance / self.length, end, depth)

    def energy(self, depth):
        return _implicit_energy(self.compliance / self.length, self.force(depth), depth)


def _implicit_energy(compliance, force, depth):
    """Energy F d - int d dF, in closed form: with d = F c (ln(A / F) + 1), int_0^F d dF = (F d + c F^2 / 2) / 2."""
    return 0.5 * force * depth - 0.25 * compliance * force * force


class Tabulated(AbstractElastic):
    """Measured force over depth, straight lines between the points and beyond the last; starts at depth 0, force 0."""

    depths: np.ndarray = eqx.field(converter=array_of(None), metadata={"unit": "Q"})  # m, increasing from 0
    forces: np.ndarray = eqx.field(converter=array_of(None), metadata={"unit": "F"})  # N

    def __check_init__(self):
        if self.depths.shape != self.forces.shape or self.depths.shape[0] < 2:
            raise ValueError("Tabulated: give as many forces as depths, at least two.")
        if is_concrete(self.depths, self.forces) and (
            not (np.diff(self.depths) > 0).all() or self.depths[0] != 0 or self.forces[0] != 0
        ):
            raise ValueError("Tabulated: depths must increase, and the table must start at depth 0 with force 0.")

    def _segment(self, depth):
        depths, forces = jnp.asarray(self.depths), jnp.asarray(self.forces)
        k = jnp.clip(jnp.searchsorted(depths, depth, side="right") - 1, 0, depths.shape[0] - 2)
        return k, depths[k], forces[k], (forces[k + 1] - forces[k]) / (depths[k + 1] - depths[k])

    def force(self, depth):
        _, d0, f0, slope = self._segment(depth)
        return f0 + slope * (depth - d0)

    def energy(self, depth):
        steps = 0.5 * jnp.diff(self.depths) * (self.forces[1:] + self.forces[:-1])
        before = jnp.concatenate([jnp.zeros(1), jnp.cumsum(steps)])
        k, d0, f0, slope = self._segment(depth)
        return before[k] + f0 * (depth - d0) + 0.5 * slope * (depth - d0) ** 2


CATALOGUE = (Linear, Hertz, Pereira, DubowskyFreudenstein, Esdu78035, Tabulated)
