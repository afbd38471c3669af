"""Numbers of P2's planar slider-crank with clearance, frictionless, as every peer needs them."""

import numpy as np

SPEED = -5000 * 2 * np.pi / 60  # rad/s, of the crank
CRANK, ROD = 0.05, 0.12  # m
RADIUS, CLEARANCE = 0.010, 0.5e-3  # m
ROD_MASS, ROD_INERTIA, SLIDER_MASS = 0.21, 25e-5, 0.14
RESTITUTION = 0.9
STIFFNESS = 4 / 3 * 207e9 / (2 * (1 - 0.3**2)) * np.sqrt(RADIUS * (RADIUS - CLEARANCE) / CLEARANCE)  # N/m^1.5
START = [0.0, CRANK + ROD, -SPEED * CRANK / ROD, 0.0]  # rod angle, slider x and their rates

END = 0.0108  # s, 0.9 revolution
TIMES = np.linspace(0.0, END, 19)
FEWEST = 180  # steps of an adaptive solver that cannot look back: it must not step over a contact
RECORD = END / 2000  # s, between recorded steps
LIMIT = 1e-6  # relative
CONFIRM = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)  # errors fluctuate from tolerance to tolerance
# m, slider position at TIMES: SciPy's DOP853 in minimal coordinates at rtol 3e-14; mbjax at 1e-13 agrees to 2e-11.
SLIDER = np.array(
    [
        0.17,
        *(0.16675536240929878, 0.1572753749382289, 0.14241176677255232),
        *(0.12599337506065325, 0.10880827969427874, 0.09456310883989294),
        *(0.0831794699899557, 0.07541303032690472, 0.0709760447345128),
        *(0.06965037459407177, 0.07117883109883029, 0.07562638554269029),
        *(0.08323371079919942, 0.09436196357450015, 0.10854644148373899),
        *(0.12519153167834782, 0.14292461002307474, 0.15723073627881934),
    ]
)


def error(positions):
    """Largest relative error of the slider position at TIMES; infinite if it is not a number."""
    worst = float(np.max(np.abs(np.asarray(positions, dtype=float) / SLIDER - 1.0)))
    return worst if np.isfinite(worst) else float("inf")
