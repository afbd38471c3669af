"""Numbers of P1's ideal 3-D slider-crank, cross axes of variant z, as every peer needs them."""

import numpy as np

END = 5.0  # s
STEP_UNIT = 0.5  # s, every output time is a multiple
TIMES = np.array([0.5, 1.0, 2.0, 5.0])
SLIDER = np.array([0.18504124, 0.20789584, 0.28983550, 0.22025265])  # m, slider position at TIMES, to 1e-7
LIMIT = 2e-6  # m
# m, derivatives of SLIDER by relative changes of the masses of rod and block: mbjax at rtol 1e-10 and 1e-12, both ways
SLOPES = np.array(
    [[0.00381886, -0.00400936], [-0.07155076, 0.07486352], [-0.03831589, 0.03904829], [-0.36753322, 0.37337662]]
)
SLOPE_LIMIT = 4e-5  # m; Exudyn's central differences reach it with runs within LIMIT

A = np.array([0.0, 0.1, 0.12])
B = np.array([0.0, 0.1, 0.2])
C = np.array([0.2, 0.0, 0.0])
CRANK_MASS, ROD_MASS, BLOCK_MASS = 0.12, 0.5, 2.0
CRANK_INERTIA = np.diag([1e-4, 1e-4, 1e-5])
BLOCK_INERTIA = np.diag([1e-4, 1e-4, 1e-4])
GRAVITY = [0.0, 0.0, -9.81]

CRANK_SPIN = np.array([6.0, 0.0, 0.0])  # rad/s
ROD_SPIN = np.array([0.0, 0.0, 2.4])
BLOCK_VELOCITY = np.array([0.24, 0.0, 0.0])  # m/s
B_VELOCITY = np.cross(CRANK_SPIN, B - A)

BLOCK_CROSS = np.array([0.0, 0.0, 1.0])
ROD_CROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)


def rod_axes():
    """Principal axes of the rod at t = 0 in columns, xi along BC."""
    along = (C - B) / np.linalg.norm(C - B)
    eta = np.cross([0.0, 0.0, 1.0], along)
    eta /= np.linalg.norm(eta)
    return np.stack([along, eta, np.cross(along, eta)], axis=1)


def rod_inertia():
    """Inertia of the rod about its centre in world axes at t = 0."""
    axes = rod_axes()
    return axes @ np.diag([4e-4, 4e-3, 4e-3]) @ axes.T


def axes_with_z(z):
    """A rotation whose third column is `z`."""
    z = np.asarray(z, dtype=float)
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.5 else [0.0, 0.0, 1.0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def error(positions):
    """Largest error of the slider position over TIMES (m); infinite if it is not a number."""
    return _largest(positions, SLIDER)


def slope_error(slopes):
    """Largest error of its derivatives by the two masses (times, masses)."""
    return _largest(slopes, SLOPES)


def _largest(found, exact):
    worst = float(np.max(np.abs(np.asarray(found, dtype=float) - exact)))
    return worst if np.isfinite(worst) else float("inf")
