"""The walk of a fit on models in closed form: scipy's answer, and when it ends."""

import numpy as np
from scipy import optimize

from identification.levenberg_marquardt import minimise
from identification.walk import CONVERGED, Walk

TS = np.linspace(0, 2, 80)


def decay(random, noise):
    """Residuals and Jacobian of a noisy a exp(-b t), counted."""
    data = 2 * np.exp(-1.3 * TS) + noise * random.normal(size=TS.size)
    asked = []

    def residuals(u):
        asked.append(u)
        return (u[0] * np.exp(-u[1] * TS) - data) / noise

    def linearised(u):
        wave = np.exp(-u[1] * TS)
        return (u[0] * wave - data) / noise, np.stack([wave, -u[0] * TS * wave], axis=1) / noise

    return residuals, linearised, asked


def test_the_walk_ends_where_scipys_does(random):
    residuals, linearised, _ = decay(random, 0.05)
    free = np.full(2, np.inf)
    state, _ = minimise(Walk(np.array([0.5, 4.0])), residuals, linearised, -free, free)
    found = optimize.least_squares(residuals, [0.5, 4.0], xtol=1e-12, ftol=1e-12).x
    deviation = np.sqrt(np.diag(np.linalg.inv(linearised(found)[1].T @ linearised(found)[1])))
    assert state.status == CONVERGED and np.all(np.abs(state.u - found) < 0.01 * deviation)


def test_a_walk_that_has_nothing_to_gain_ends_at_once(random):
    """Residuals that no parameter can change do not send it looking for what rounding leaves."""
    residuals, linearised, asked = decay(random, 0.05)
    best = optimize.least_squares(residuals, [0.5, 4.0], xtol=1e-14, ftol=1e-14).x
    asked.clear()
    free = np.full(2, np.inf)
    state, _ = minimise(Walk(best), residuals, linearised, -free, free)
    assert state.status == CONVERGED and not asked and np.array_equal(state.u, best)


def test_no_step_is_longer_than_its_reach():
    """A parameter that the data hardly feel would be sent far away at once."""
    asked = []

    def residuals(u):
        asked.append(u.copy())
        return np.array([u[0] - 1.0, 1e-3 * np.tanh(u[1]) - 1e-3])

    def linearised(u):
        return residuals(u), np.diag([1.0, 1e-3 / np.cosh(u[1]) ** 2])

    free = np.full(2, np.inf)
    state, _ = minimise(Walk(np.array([0.0, -3.0])), residuals, linearised, -free, free, reach=np.array([np.inf, 2.0]))
    assert state.status == CONVERGED and abs(state.u[0] - 1.0) < 1e-6
    assert np.abs(np.diff([u[1] for u in asked])).max() <= 2.0
    asked.clear()
    minimise(Walk(np.array([0.0, -3.0])), residuals, linearised, -free, free)
    assert np.abs(np.diff([u[1] for u in asked])).max() > 20.0
