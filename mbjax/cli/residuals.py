"""How well the initial state fulfils the constraints."""

import equinox as eqx
import numpy as np

from ..constraints import rows_at
from ..kinematics import motion


@eqx.filter_jit
def _rows(structure, model, state, t):
    return rows_at(structure, model, motion(model, state.q, state.v), t).residual


def initial_residuals(system, state, t):
    """Largest constraint residual (m or rad) of every connection and driver; one compilation, not one per operation."""
    values = np.abs(np.asarray(_rows(system.structure, system.model, state, np.float64(t))))
    worst = {}
    for label, value in zip(system.structure.row_labels, values, strict=True):
        name = label.split(": ")[0]
        worst[name] = max(worst.get(name, 0.0), float(value))
    return worst
