"""Robust losses under scipy's names: what an outlier may cost.

A loss rho(r^2) enters as the residual sign(r) sqrt(rho(r^2)), whose square is the loss: every least-squares method then
minimises it as it stands.
"""

import numpy as np

from .errors import StudyError

# rho(z) and its derivative, with z = r^2; a residual of one standard deviation is where they begin to differ.
LOSSES = {
    "linear": (lambda z: z, lambda z: np.ones_like(z)),
    "soft_l1": (lambda z: 2 * z / (1 + np.sqrt(1 + z)), lambda z: 1 / np.sqrt(1 + z)),
    "huber": (
        lambda z: np.where(z <= 1, z, 2 * np.sqrt(np.maximum(z, 1)) - 1),
        lambda z: np.where(z <= 1, 1.0, 1 / np.sqrt(np.maximum(z, 1))),
    ),
    "cauchy": (np.log1p, lambda z: 1 / (1 + z)),
    "arctan": (np.arctan, lambda z: 1 / (1 + z**2)),
}


def check_loss(name, scale):
    if name not in LOSSES:
        raise StudyError(f"Problem: loss `{name}` is unknown; choose {', '.join(LOSSES)}.")
    if not scale > 0:
        raise StudyError(f"Problem: loss_scale {scale:g} must be positive.")


def softened(name, scale, residual, jacobian=None):
    """Residuals (and Jacobian) whose squares are the loss; `scale` is the residual from which on it is robust."""
    if name == "linear":
        return residual, jacobian
    rho, slope = LOSSES[name]
    z = (residual / scale) ** 2
    size = np.sqrt(rho(z))
    soft = np.sign(residual) * scale * size
    if jacobian is None:
        return soft, None
    factor = np.where(z > 0, np.sqrt(z) * slope(z) / np.where(size > 0, size, 1.0), 1.0)
    return soft, factor[:, None] * jacobian
