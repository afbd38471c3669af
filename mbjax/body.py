"""Bodies: ground, rigid bodies in space, rigid bodies in a plane. Their pose is the guess (design position) at t0."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import rotation
from .array import array_of, is_concrete, number, stack, vector

GROUND = "ground"


def _inertia(value):
    """Three principal moments or the full matrix, as a matrix."""
    if isinstance(value, jax.Array):
        return jnp.diag(value) if value.shape == (3,) else array_of(3, 3)(value)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Inertia: expected 3 principal moments or a 3x3 matrix, got {value!r}.") from None
    return np.diag(array) if array.shape == (3,) else array_of(3, 3)(array)


def _check_mass(name, mass):
    if is_concrete(mass) and not float(mass) > 0:
        raise ValueError(f"Body `{name}` has mass {float(mass):g} kg; a body that moves needs a positive mass.")


class AbstractBody(eqx.Module):
    """A rigid body: a name, a mass, and where it is at t0."""

    name: eqx.AbstractVar[str]
    mass: eqx.AbstractVar[np.ndarray]

    @abstractmethod
    def place(self):
        """Position of the mass centre and rotation matrix at t0, in global axes."""

    @abstractmethod
    def rates(self):
        """Velocity of the mass centre and angular velocity at t0, both in global axes."""


class SpatialBody(AbstractBody):
    """A rigid body in space: position of the mass centre and Euler parameters; velocity and body-frame angular
    velocity.

    `inertia` is taken at the mass centre in body axes: three principal moments or the full matrix. It must be that
    of a real body: positive, and no principal moment larger than the sum of the other two.
    """

    name: str = eqx.field(static=True)
    mass: np.ndarray = eqx.field(converter=number)  # kg
    inertia: np.ndarray = eqx.field(converter=_inertia)  # kg m^2, (3, 3)
    position: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # m, global
    orientation: np.ndarray = eqx.field(converter=array_of(4), default=(1.0, 0.0, 0.0, 0.0))  # Euler parameters
    velocity: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # m/s, global
    angular_velocity: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # rad/s, global axes

    def __check_init__(self):
        _check_mass(self.name, self.mass)
        if is_concrete(self.inertia):
            _check_inertia(self.name, np.asarray(self.inertia))
        if is_concrete(self.orientation) and not np.linalg.norm(self.orientation) > 0.1:
            raise ValueError(f"Body `{self.name}`: orientation {self.orientation!r} is not a set of Euler parameters.")

    def place(self):
        return self.position, rotation.matrix(self.orientation)

    def rates(self):
        return self.velocity, self.angular_velocity


class PlanarBody(AbstractBody):
    """A rigid body that stays in a plane: x, y of the mass centre and the angle, all measured in that plane.

    The plane passes through `origin`; its x axis is `plane_x`, its y axis `plane_y` (global, at right angles), its
    normal their cross product. The angle is positive about the normal.
    """

    name: str = eqx.field(static=True)
    mass: np.ndarray = eqx.field(converter=number)  # kg
    inertia: np.ndarray = eqx.field(converter=number)  # kg m^2 about the normal at the mass centre
    position: np.ndarray = eqx.field(converter=array_of(2), default=(0.0, 0.0))  # m, in the plane
    angle: np.ndarray = eqx.field(converter=number, default=0.0)  # rad
    velocity: np.ndarray = eqx.field(converter=array_of(2), default=(0.0, 0.0))  # m/s
    angular_velocity: np.ndarray = eqx.field(converter=number, default=0.0)  # rad/s
    origin: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # m, global
    plane_x: np.ndarray = eqx.field(converter=vector, default=(1.0, 0.0, 0.0))
    plane_y: np.ndarray = eqx.field(converter=vector, default=(0.0, 1.0, 0.0))

    def __check_init__(self):
        _check_mass(self.name, self.mass)
        if is_concrete(self.inertia) and not float(self.inertia) > 0:
            raise ValueError(f"Body `{self.name}` has inertia {float(self.inertia):g} kg m^2; it must be positive.")
        if is_concrete(self.plane_x, self.plane_y):
            x, y = np.asarray(self.plane_x), np.asarray(self.plane_y)
            basis = np.stack([x, y])
            if np.abs(basis @ basis.T - np.eye(2)).max() > 1e-9:
                raise ValueError(
                    f"Body `{self.name}`: plane_x {x.tolist()} and plane_y {y.tolist()} must be unit vectors at right "
                    "angles."
                )

    def plane(self):
        """Columns x, y, normal of the plane, in global axes."""
        return stack([self.plane_x, self.plane_y, rotation.cross(self.plane_x, self.plane_y)], axis=-1)

    def place(self):
        plane = self.plane()
        turn = rotation.matrix(rotation.from_axis_angle((0.0, 0.0, 1.0), self.angle))
        return self.origin + plane[:, :2] @ self.position, plane @ turn

    def rates(self):
        plane = self.plane()
        return plane[:, :2] @ self.velocity, plane[:, 2] * self.angular_velocity


def _check_inertia(name, inertia):
    if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
        raise ValueError(f"Body `{name}`: the inertia matrix is not symmetric:\n{inertia}")
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] <= 0:
        raise ValueError(f"Body `{name}`: principal moments of inertia {moments.tolist()} kg m^2 must be positive.")
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        raise ValueError(
            f"Body `{name}`: no rigid body has principal moments {moments.tolist()} kg m^2: the largest exceeds the "
            "sum of the other two. Check units, the order of the axes, and that they are taken at the mass centre."
        )
