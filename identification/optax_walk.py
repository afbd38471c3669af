"""The walk of a fit by an Optax optimiser, in the form of `levenberg_marquardt.steps`."""

import jax
import jax.numpy as jnp
import numpy as np

from .errors import StudyError
from .walk import CONVERGED, EXHAUSTED, LINEARISED, RESIDUALS, STUCK


def _follows(kind, memory):
    """Whether an optimiser's state has a part of that kind (or is it)."""
    if isinstance(memory, kind):
        return True
    return isinstance(memory, tuple) and any(_follows(kind, part) for part in memory)


def _kept(taken, u, memory):
    """What a walk needs besides its best point to go on bit by bit; plain lists, for JSON."""
    return {"taken": taken, "u": u.tolist(), "leaves": [np.asarray(x).tolist() for x in jax.tree.leaves(memory)]}


def _restored(kept, memory):
    """Steps taken, u and the optimiser's state, from `_kept`; `memory` is a fresh state."""
    leaves, tree = jax.tree.flatten(memory)
    back = [jnp.asarray(x, dtype=np.asarray(old).dtype) for x, old in zip(kept["leaves"], leaves, strict=True)]
    return kept["taken"], np.array(kept["u"]), jax.tree.unflatten(tree, back)


def optax_walk(optimiser):
    """A walk by an Optax optimiser. Steps of L-BFGS are halved until the cost falls (Armijo): Optax's own line searches
    want to trace the objective."""
    if not (hasattr(optimiser, "init") and hasattr(optimiser, "update")):
        raise StudyError(f"fit: method {optimiser!r} is neither `lm` nor an Optax optimiser.")

    def steps(state, lower, upper, *, reach, tolerance, most, note):
        import optax

        point = yield LINEARISED, state.u
        if point is None:
            state.status = "failed"
            return state, None
        if state.status:  # taken up again after its end
            return state, point
        best = (0.5 * point[0] @ point[0], state.u, point)
        before, u, memory = 0, state.u, optimiser.init(state.u)
        if state.memory is not None:
            before, u, memory = _restored(state.memory, memory)
            point = yield LINEARISED, u
        cost = 0.5 * point[0] @ point[0]
        searched = _follows(optax.ScaleByLBFGSState, memory)
        for taken in range(before + 1, most + 1):
            gradient = point[1].T @ point[0]
            try:
                update, memory = optimiser.update(gradient, memory, u)
            except TypeError as error:
                raise StudyError(
                    f"fit: this optimiser wants more than gradients ({error}); L-BFGS is optax.lbfgs(1.0, "
                    "linesearch=None), its steps are searched here."
                ) from None
            move, after = np.asarray(update), None
            move = move / max(1.0, float(np.max(np.abs(move) / reach)))
            for _ in range(30 if searched else 10):  # a failed simulation is a rejected step
                trial = np.clip(u + move, lower, upper)
                allowed = cost + 1e-4 * gradient @ (trial - u) if searched else np.inf
                found = (yield RESIDUALS, trial) if searched else ()
                if found is not None and 0.5 * np.dot(found, found) <= allowed:
                    after = yield LINEARISED, trial
                state.evaluations += 1
                if after is not None:
                    break
                move = 0.5 * move
            if after is None:
                state.status = STUCK
                break
            new, step = 0.5 * after[0] @ after[0], float(np.max(np.abs(trial - u)))
            u, point = trial, after
            if new < best[0]:
                best = (new, u, point)
            state.u, state.iteration = best[1], state.iteration + 1
            state.memory = _kept(taken, u, memory)
            if step < tolerance or abs(cost - new) <= tolerance * 1e-3 * cost:
                state.status = CONVERGED
            note(state, best[0], step)
            if state.status:
                break
            cost = new
        state.u, state.status = best[1], state.status or EXHAUSTED
        return state, best[2]

    return steps
