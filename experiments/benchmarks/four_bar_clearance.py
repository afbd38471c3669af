"""Numbers of P3's four-bar with spherical clearance and friction, as every peer needs them."""

import jax
import numpy as np

from mbjax import rotation
from mbjax.library.four_bar import CRANK_PIN as CRANK_PIN
from mbjax.library.four_bar import JOINT as JOINT
from mbjax.library.four_bar import ROCKER_PIVOT as ROCKER_PIVOT
from mbjax.library.four_bar import four_bar

jax.config.update("jax_enable_x64", True)

END = 1.0  # s
TIMES = np.linspace(0.0, END, 11)
GRAVITY = [0.0, 0.0, -9.81]
RADIUS, CLEARANCE = 0.010, 0.2e-3  # m
RESTITUTION = 0.9
STIFFNESS = 4 / 3 * 207e9 / (2 * (1 - 0.3**2)) * np.sqrt(RADIUS * (RADIUS - CLEARANCE) / (2 * RADIUS - CLEARANCE))
FRICTION, SLOPE = 0.1, 1e-3  # coefficient; m/s, over which friction builds up

BODIES = ("crank", "coupler", "rocker")
_mechanism = four_bar()
MASSES = [float(_mechanism[name].mass) for name in BODIES]
CENTRES = [np.asarray(_mechanism[name].position) for name in BODIES]
TURNS = [np.asarray(rotation.matrix(np.asarray(_mechanism[name].orientation))) for name in BODIES]
INERTIAS = [t @ np.asarray(_mechanism[n].inertia) @ t.T for n, t in zip(BODIES, TURNS, strict=True)]

FEWEST = 1000  # steps of an adaptive solver that cannot look back
RECORD = END / 2000  # s, between recorded steps
CONFIRM = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)  # errors fluctuate from tolerance to tolerance


def error(positions, reference):
    """Largest error of the centres of coupler and rocker at TIMES (m); infinite if it is not a number."""
    worst = float(np.max(np.abs(np.asarray(positions) - reference)))
    return worst if np.isfinite(worst) else float("inf")
