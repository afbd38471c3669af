"""Mass and inertia of simple solids, to be unpacked into a body: `SpatialBody("rod", **rod(length=0.3, mass=0.2))`."""

import numpy as np


def _mass(volume, mass, density, what):
    if (mass is None) == (density is None):
        raise ValueError(f"{what}: give either `mass` or `density`, not both and not neither.")
    return volume * density if mass is None else mass


def _positive(what, **sizes):
    for name, size in sizes.items():
        if np.ndim(size) or not size > 0:
            raise ValueError(f"{what}: {name} = {size!r} must be a positive number of metres.")


def box(x, y, z, *, mass=None, density=None):
    """Solid box with edges x, y, z along the body axes."""
    _positive("box", x=x, y=y, z=z)
    m = _mass(x * y * z, mass, density, "box")
    return {"mass": m, "inertia": m / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])}


def cylinder(radius, length, *, mass=None, density=None):
    """Solid cylinder along the body's z axis."""
    _positive("cylinder", radius=radius, length=length)
    m = _mass(np.pi * radius**2 * length, mass, density, "cylinder")
    across = m * (3 * radius**2 + length**2) / 12
    return {"mass": m, "inertia": np.array([across, across, m * radius**2 / 2])}


def tube(outer_radius, inner_radius, length, *, mass=None, density=None):
    """Hollow cylinder along the body's z axis."""
    _positive("tube", outer_radius=outer_radius, inner_radius=inner_radius, length=length)
    if inner_radius >= outer_radius:
        raise ValueError(f"tube: inner radius {inner_radius!r} must be smaller than outer radius {outer_radius!r}.")
    m = _mass(np.pi * (outer_radius**2 - inner_radius**2) * length, mass, density, "tube")
    squares = outer_radius**2 + inner_radius**2
    across = m * (3 * squares + length**2) / 12
    return {"mass": m, "inertia": np.array([across, across, m * squares / 2])}


def sphere(radius, *, mass=None, density=None):
    """Solid sphere."""
    _positive("sphere", radius=radius)
    m = _mass(4 / 3 * np.pi * radius**3, mass, density, "sphere")
    return {"mass": m, "inertia": np.full(3, 0.4 * m * radius**2)}


def rod(length, *, mass, slenderness=1e-3):
    """Slender rod along the body's x axis; `slenderness` (radius / length) keeps the moment about x positive."""
    _positive("rod", length=length)
    across = mass * length**2 / 12
    return {"mass": mass, "inertia": np.array([0.5 * mass * (slenderness * length) ** 2, across, across])}
