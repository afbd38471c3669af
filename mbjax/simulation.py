"""Simulation: the eager shell (checks, defaults, messages) around the stepping kernel."""

import warnings

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from .array import is_concrete, require_x64
from .compilation import compiled
from .errors import ModelWarning, SimulationError
from .interactions import at_start
from .state import Memory, Rates, State, no_account, positions
from .stepping import explicit, implicit, loop
from .stepping.adjoint import AbstractAdjoint, ForwardMode, Replay, Tangents
from .stepping.flow import pack, sizes, to_state
from .stepping.progress import SUCCESS
from .stepping.rosenbrock import Rodas4
from .stepping.stabilise import AbstractStabilisation, Projection
from .stepping.steps import Adaptive, Fixed
from .trajectory import Result, Statistics, Trajectory

_ADJOINTS = {
    diffrax.ForwardMode: ForwardMode,
    diffrax.RecursiveCheckpointAdjoint: Replay,
}


def simulate(
    system,
    state,
    ts,
    *,
    solver=None,
    steps=None,
    adjoint=None,
    stabilisation=None,
    max_steps=1_000_000,
    events=0,
    throw=True,
):
    """Integrate from `state` at ts[0]; output at `ts` (s, increasing), where all constraints hold. Infinite times at
    the end of `ts` are never reached and their rows are NaN: room for runs of different length in one compilation.

    - `solver`: any diffrax solver (`diffrax.Tsit5()`, `Dopri8()`, `Kvaerno5()`, `KenCarp4()`, ...) or `mb.Rodas4()`;
      default `diffrax.Dopri8()`.
    - `steps`: `mb.Adaptive(rtol=1e-6)` (default), `mb.Fixed(1e-3)`, or a diffrax step size controller.
    - `adjoint`: `mb.Tangents()` (default), `mb.ForwardMode()`, `mb.Replay()`; diffrax's ForwardMode and
      RecursiveCheckpointAdjoint name the latter two.
    - `stabilisation`: `mb.Projection()` (default) or `mb.Baumgarte()`.
    - `events`: room for so many contact events (touches, releases) in `traj.events`; 0 (default) logs none.
    - `throw`: raise `SimulationError` on failure where the result is concrete. Under jit, vmap or a derivative look
      at `traj.result`; rows that were not reached are NaN, and a failed lane fails alone.
    """
    require_x64()
    ts = _times(ts)
    method = loop.Method(
        system.structure,
        _solver(solver, steps),
        _steps(steps),
        Projection() if stabilisation is None else _checked(stabilisation, AbstractStabilisation, "stabilisation"),
        max_steps,
        _events(system, events),
    )
    adjoint = _adjoint(adjoint)
    states, result, statistics, log = _run(adjoint, method, system.model, state, ts, _knots(system, ts))
    trajectory = Trajectory(system, ts, states, result, statistics, log)
    if throw and is_concrete(result.code) and result.code != SUCCESS:
        raise SimulationError(f"The simulation of `{system.mechanism.name}` stopped: {result.message}.")
    _warn_of_speeds(system, states.memory.points.fastest)
    return trajectory


def _warn_of_speeds(system, fastest):
    """Touches faster than the laws are meant for; silent where numbers are not known (under jit, vmap, derivatives)."""
    limits = np.array([law.highest_speed() for law in system.model.laws for _ in range(law.points)])
    if not np.isfinite(limits).any() or not is_concrete(fastest):
        return
    found = np.nanmax(np.asarray(fastest), axis=0)
    k = int(np.argmax(found / limits))
    if found[k] > limits[k]:
        warnings.warn(
            f"{system.structure.point_labels[k]}: touched at {found[k]:.3g} m/s; the law is meant for at most "
            f"{limits[k]:.3g} m/s (`highest_speed`). Restitution and forces are then extrapolated.",
            ModelWarning,
            stacklevel=3,
        )


@compiled
def _run(adjoint, method, model, state, ts, knots):
    structure = method.structure
    outputs, (memory, log), progress = adjoint.run(method, model, pack(structure, state), state.memory, ts, knots)
    memory = Memory(memory.spin, memory.points.beside_corners())  # outside of a run the slip tells
    states = jax.vmap(lambda y, m: to_state(structure, y, m))(outputs, memory)
    result = Result(progress.result, progress.t)
    stages = _stages(method.solver)
    return (
        states,
        result,
        Statistics(progress.accepted, progress.rejected, (progress.accepted + progress.rejected) * stages),
        log,
    )


def _events(system, events):
    if not isinstance(events, int) or isinstance(events, bool) or events < 0:
        raise ValueError(f"simulate: `events` is {events!r}; give the number of contact events to keep room for.")
    return events if system.structure.points else 0


def _stages(solver):
    if explicit.is_explicit(solver):
        return explicit.stages_of(solver.tableau)
    if hasattr(solver, "tableau"):
        tableau = getattr(solver.tableau, "tableaus", (solver.tableau,))[0]
        return tableau.num_stages
    return 6 if isinstance(solver, Rodas4) else 1


def _times(ts):
    ts = jnp.asarray(ts, dtype=float)
    if ts.ndim != 1 or ts.shape[0] < 2:
        raise ValueError(f"simulate: `ts` must be a list of at least two times, got shape {ts.shape}.")
    if is_concrete(ts):
        values = np.asarray(ts)
        used = values[: values.size - int(np.cumprod(np.isposinf(values[::-1])).sum())]
        bad = np.flatnonzero(~(np.diff(used) > 0))
        if bad.size or not np.isfinite(used).all() or used.size < 2:
            k = int(bad[0]) if bad.size else int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"simulate: `ts` must increase and be finite (but for infinite times at the end); look at entry {k} "
                f"({values[k]:g} s)."
            )
    return ts


def _steps(steps):
    if steps is None:
        return Adaptive()
    if isinstance(steps, diffrax.ConstantStepSize):
        raise ValueError("simulate: give `steps=mb.Fixed(step)` for fixed steps; ConstantStepSize holds no step.")
    return _checked(steps, Adaptive | Fixed | diffrax.AbstractStepSizeController, "steps")


def _solver(solver, steps):
    solver = diffrax.Dopri8() if solver is None else _checked(solver, diffrax.AbstractSolver, "solver")
    fixed = isinstance(steps, Fixed)
    if not fixed and not isinstance(solver, diffrax.AbstractAdaptiveSolver):
        raise ValueError(f"simulate: {type(solver).__name__} has no error estimate; use it with steps=mb.Fixed(step).")
    if implicit.is_implicit(solver):
        if not hasattr(solver, "tableau") or not hasattr(solver, "root_finder"):
            raise ValueError(
                f"simulate: {type(solver).__name__} is not supported; use Kvaerno, KenCarp or mb.Rodas4()."
            )
        rtol = getattr(steps, "rtol", 1e-6) if steps is not None else 1e-6
        return implicit.without_callbacks(solver, rtol)
    return solver


def _adjoint(adjoint):
    if adjoint is None:
        return Tangents()
    for theirs, ours in _ADJOINTS.items():
        if isinstance(adjoint, theirs):
            return ours()
    return _checked(adjoint, AbstractAdjoint, "adjoint")


def _checked(value, kind, what):
    if not isinstance(value, kind):
        raise ValueError(f"simulate: `{what}` is {value!r}, which is not one of the kinds named in its documentation.")
    return value


def _knots(system, ts):
    """Times inside the run where a measured input bends, sorted."""
    parts = [p.signal.knots() for p in system.mechanism.drivers] + [e.knots() for e in system.mechanism.elements]
    parts = [jnp.asarray(p) for p in parts if p.shape[0]]
    if not parts:
        return jnp.zeros(0)
    return jnp.unique(jnp.concatenate(parts)) if is_concrete(*parts) else jnp.sort(jnp.concatenate(parts))


def empty_trajectory(system):
    """A trajectory of one NaN state: a template for reading files."""
    structure = system.structure
    nq, *_ = sizes(structure)
    q = positions(structure, jnp.full(nq, jnp.nan))
    rate = Rates(*(jnp.full((n, 3), jnp.nan) for n in (structure.spatial, structure.spatial, structure.planar)))
    nan = jnp.array(jnp.nan)
    memory = at_start(structure, jnp.full(len(structure.connection_names), jnp.nan))
    state = State(q, rate, jnp.full(structure.internals, jnp.nan), memory, no_account())
    states = jax.tree.map(lambda x: x[None], state)
    zero = jnp.array(0)
    return Trajectory(system, jnp.zeros(1), states, Result(zero, nan), Statistics(zero, zero, zero))
