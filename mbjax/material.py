"""Materials and contact stiffness from Hertz' theory."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .array import is_concrete, number


class Material(eqx.Module):
    """Elastic material of a contacting body."""

    modulus: np.ndarray = eqx.field(converter=number, metadata={"unit": "Pa"})  # Pa, Young's
    poisson: np.ndarray = eqx.field(converter=number, metadata={"unit": "1"})
    density: np.ndarray = eqx.field(converter=number, metadata={"unit": "kg/m^3"})  # kg/m^3

    def __check_init__(self):
        for field in ("modulus", "density"):
            value = getattr(self, field)
            if is_concrete(value) and not value > 0:
                raise ValueError(f"Material: {field} {float(value):g} must be positive.")
        if is_concrete(self.poisson) and not -1 < self.poisson <= 0.5:
            raise ValueError(f"Material: Poisson's ratio {float(self.poisson):g} must lie between -1 and 0.5.")

    @property
    def compliance(self):
        """(1 - nu^2) / E, 1/Pa (P3 10; P2 24 divides by pi as well, and multiplies it back in 23)."""
        return (1 - self.poisson**2) / self.modulus

    @property
    def highest_impact_speed(self):
        """1e-5 sqrt(E / rho), m/s: above it a dry impact leaves permanent dents (P2 after 25)."""
        return 1e-5 * jnp.sqrt(self.modulus / self.density)


def steel():
    """The steel of P2 and P3: E 207 GPa, nu 0.3; 7850 kg/m^3."""
    return Material(207e9, 0.3, 7850.0)


def hertz_stiffness(radius_1, radius_2, material_1=None, material_2=None):
    """K of F = K d^1.5 for two spheres, N/m^1.5 (P2 23): 4 / (3 (s1 + s2)) sqrt(R1 R2 / (R1 + R2)).

    Radii are signed: concave is negative. A ball of 9.5 mm in a socket of 10 mm is `hertz_stiffness(0.0095, -0.010)`.
    P3 9 prints the plus sign for its ball in a socket: that is `hertz_stiffness(0.0098, 0.010)`.
    """
    material_1 = steel() if material_1 is None else material_1
    material_2 = material_1 if material_2 is None else material_2
    curvature = 1 / jnp.asarray(radius_1) + 1 / jnp.asarray(radius_2)
    if is_concrete(curvature) and not curvature > 0:
        raise ValueError(
            f"hertz_stiffness: radii {float(radius_1):g} and {float(radius_2):g} m do not touch at a point; a concave "
            "radius is negative and larger in size than the convex one."
        )
    return 4 / (3 * (material_1.compliance + material_2.compliance)) / jnp.sqrt(curvature)


def composite_modulus(material_1=None, material_2=None):
    """E* of two materials, Pa: 1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2."""
    material_1 = steel() if material_1 is None else material_1
    material_2 = material_1 if material_2 is None else material_2
    return 1 / (material_1.compliance + material_2.compliance)
