"""Bounded Levenberg-Marquardt on whitened residuals. The whole state is a few numbers, so a run can be resumed."""

import numpy as np

from .walk import CONVERGED, EXHAUSTED, LINEARISED, RESIDUALS, STUCK, alone


def minimise(state, residuals, linearised, lower, upper, **settings):
    """`steps` with functions that answer: `residuals(u)` and `linearised(u)`, None where the simulation fails."""
    return alone(steps(state, lower, upper, **settings), residuals, linearised)


def steps(state, lower, upper, *, reach=np.inf, tolerance=1e-8, most=100, note=None):
    """Iterate until the step, relative to 1 in the space of the fit, or the gain falls below `tolerance`; or at once
    where even the step without damping foresees no larger gain (of the cost) than that.

    A walk (`walk.py`) that returns the state and the last linearisation. A step where the simulation fails is rejected.
    `note(state, cost, step)` is called after every accepted step. Parameters at a bound that want to leave it are held.
    No step is longer than `reach` (per parameter, or one for all): it is damped until it is not.
    """
    point = yield LINEARISED, state.u
    if point is None:
        state.status = "failed"
        return state, None
    cost = 0.5 * point[0] @ point[0]
    while not state.status:
        r, jacobian = point
        gradient = jacobian.T @ r
        norms = np.linalg.norm(jacobian, axis=0)
        state.scale = norms if state.scale is None else np.maximum(state.scale, norms)
        free = ~((state.u <= lower) & (gradient > 0) | (state.u >= upper) & (gradient < 0))
        if not free.any() or np.max(np.abs(gradient[free]) / np.where(norms[free] > 0, norms[free], 1.0)) < 1e-10:
            state.status = CONVERGED
            break
        if _most_gain(jacobian[:, free], r) <= tolerance * cost:
            state.status = CONVERGED
            break
        step = _step(jacobian[:, free], r, state.damping, state.scale[free], np.broadcast_to(reach, free.shape)[free])
        trial = state.u.copy()
        trial[free] = np.clip(state.u[free] + step, lower[free], upper[free])
        moved = trial - state.u
        state.evaluations += 1
        found = yield RESIDUALS, trial
        foreseen = -(gradient @ moved + 0.5 * np.sum((jacobian @ moved) ** 2))
        gain = -1.0 if found is None else _gain(cost - 0.5 * found @ found, foreseen)
        small = np.max(np.abs(moved)) < tolerance
        if gain > 1e-4:
            after = yield LINEARISED, trial
            if after is None:
                gain = -1.0
        if gain > 1e-4:
            new = 0.5 * after[0] @ after[0]
            little = cost - new <= tolerance * cost and foreseen <= tolerance * cost
            state.u, point, cost = trial, after, new
            state.damping *= max(1 / 3, 1 - (2 * min(gain, 1.0) - 1) ** 3)
            state.growth = 2.0
            state.iteration += 1
            state.status = CONVERGED if small or little else ""
            if note is not None:
                note(state, cost, float(np.max(np.abs(moved))))
        else:
            state.damping *= state.growth
            state.growth *= 2
            if small:
                # The model cannot be improved by more than its own rounding, or not at all.
                state.status = CONVERGED if found is not None else STUCK
        if not state.status and state.evaluations >= most:
            state.status = EXHAUSTED
    return state, point


def _gain(reached, foreseen):
    """Reached over foreseen reduction; a step cut off at a bound may foresee none."""
    if foreseen > 1e-300 + 1e-14 * abs(reached):
        return reached / foreseen
    return 1.0 if reached > 0 else -1.0


def _most_gain(jacobian, r):
    """What the step without damping foresees: the part of the cost that lies in the range of the Jacobian."""
    move = np.linalg.lstsq(jacobian, -r, rcond=None)[0]
    return 0.5 * np.sum((jacobian @ move) ** 2)


def _step(jacobian, r, damping, scale, reach):
    scale, right = np.where(scale > 0, scale, 1.0), -np.concatenate([r, np.zeros(jacobian.shape[1])])
    while True:
        step = np.linalg.lstsq(np.concatenate([jacobian, np.diag(np.sqrt(damping) * scale)]), right, rcond=None)[0]
        if not np.any(np.abs(step) > reach):
            return step
        damping *= 4
