"""The stepping loop: one step after the other, and what it leaves at the outputs. No host callback anywhere."""

import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from .. import interactions, lanes
from ..initial import spins
from ..kinematics import motion
from ..smooth import unwrap
from ..state import Memory, flatten
from ..structure import Structure
from . import explicit, implicit, switches
from .between import between, bulge
from .flow import Flow, internal_of, sizes, unpack
from .log import Loads, Log, empty, record
from .progress import aim, bend, judge, landed, start, unfinished, update
from .stabilise import AbstractStabilisation
from .steps import Adaptive, ErrorNorm, Fixed


class Method(eqx.Module):
    """Everything that defines how a system is integrated, except its numbers."""

    structure: Structure = eqx.field(static=True)
    solver: diffrax.AbstractSolver
    steps: Adaptive | Fixed | diffrax.AbstractStepSizeController
    stabilisation: AbstractStabilisation
    max_steps: int = eqx.field(static=True)
    events: int = eqx.field(static=True, default=0)  # rows of the log of contacts

    @property
    def flow(self):
        return Flow(self.structure, self.stabilisation.feedback())

    @property
    def terms(self):
        return diffrax.ODETerm(self.flow)

    @property
    def adaptive(self):
        return not isinstance(self.steps, Fixed | diffrax.ConstantStepSize)


class Moment(eqx.Module):
    """What is carried from step to step and has derivatives."""

    y: jax.Array
    memory: Memory
    solver_state: object
    log: Log | None


class Attempt(eqx.Module):
    """A step of the solver, before anything is done about constraints and contacts."""

    y: jax.Array
    solver_state: object
    error: jax.Array  # estimate, like y
    ok: jax.Array  # () whether the solver found its stages

    def finite(self):
        return jnp.all(jnp.isfinite(self.y)) & jnp.all(jnp.isfinite(self.error))


def begin(method, model, y, memory, t):
    """The moment before the first step."""
    memory = switches.begin(method.structure, model, y, memory)
    if explicit.is_explicit(method.solver) or implicit.is_implicit(method.solver):
        state = None
    else:
        state = method.solver.init(method.terms, t, t, y, (model, memory))
    log = None
    if method.events:
        log = empty(method.events, _loads(method, model, y, memory, t))
    return jax.tree.map(jnp.asarray, Moment(y, memory, state, log))


def _normal_forces(structure, model, y, memory, t):
    """Of all points."""
    moving = motion(model, *unpack(structure, y))
    return interactions.act(structure, model, moving, memory, internal_of(structure, y), t).normal


def _loads(method, model, y, memory, t):
    t = jnp.asarray(t, dtype=float)
    flow = method.flow(t, y, (model, memory))
    forces = functools.partial(_normal_forces, method.structure, model, memory=memory)
    return Loads(*jax.jvp(lambda t, y: forces(y=y, t=t), (t, y), (jnp.ones_like(t), flow)), flow)


def advance(method, model, moment, t0, step, jumped):
    """One recorded step (`noted`) from t0 that is known to be kept: the new moment and its `Outcome`."""
    end, bend, pace = step[0], step[1], step[2:].astype(int)
    tried = attempt(method, model, moment, t0, end, bend, jumped)
    return finish(method, model, moment, tried, t0, end, bend, pace)


def noted(method, end, bend, moment):
    """What a replay must know of a step: its end, how time bent, and the corners that slips had passed then."""
    pace = moment.memory.points.pace if method.structure.corners else jnp.zeros(0)
    return jnp.concatenate([jnp.stack([end, bend]), pace.astype(float)])


def attempt(method, model, moment, t0, t1, bend, jumped):
    """The solver's step from t0 to t1; `bend` is for explicit methods (`explicit_step`)."""
    args = (model, moment.memory)
    if explicit.is_explicit(method.solver):
        y, error = explicit.explicit_step(method.solver.tableau, method.flow, t0, t1, moment.y, args, bend)
        ok, state = jnp.array(True), None
    elif implicit.is_implicit(method.solver):
        y, error, ok = implicit.implicit_step(method.solver, method.flow, t0, t1, moment.y, args)
        state = None
    else:
        y, error, _, state, result = method.solver.step(
            method.terms, t0, t1, moment.y, args, moment.solver_state, jumped
        )
        ok = result == diffrax.RESULTS.successful
    return Attempt(y, state, jnp.zeros_like(y) if error is None else error, ok)


def finish(method, model, moment, tried, t0, t1, bend, pace=None):
    """The projection after a step and the switches at its end: the new moment and its `Outcome`."""
    structure, y = method.structure, tried.y
    nq, nv, *_ = sizes(structure)
    q, v = method.stabilisation.correct(structure, model, *unpack(structure, y), t1)
    y = jnp.concatenate([*flatten(q, v), y[nq + nv :]])
    moving = motion(model, q, v)
    spin = unwrap(spins(structure, model, moving), moment.memory.spin)
    if not structure.points:
        return Moment(y, Memory(spin, moment.memory.points), tried.solver_state, None), switches.uneventful()
    new_y, memory, outcome, happening = switches.switch(method, model, moment, y, spin, moving, t0, t1, pace)
    log = moment.log
    if method.events:
        before = _loads(method, model, y, Memory(spin, moment.memory.points), t1)
        after = jax.lax.cond(outcome.switched, lambda: _loads(method, model, new_y, memory, t1), lambda: before)

        ends = (moment.y, moment.log.loads.flow), (y, before.flow)
        h = t1 - t0

        def inside(x, extra=0.0):
            here = between(structure, *ends, h, x, extra)
            return _normal_forces(structure, model, here, moment.memory, t0 + x * h)

        def more():
            return bulge(structure, *ends, h, lambda y: method.flow(t0 + 0.5 * h, y, (model, moment.memory)))

        log = record(log, happening, before, after, h, bend, inside, more)
    return Moment(new_y, memory, tried.solver_state, log), outcome


def finish_if(good, finish, otherwise):
    """`finish()`, or `otherwise` (of the same form) after a step that will be rejected anyway; `good` None: always."""
    return finish() if good is None else jax.lax.cond(good, finish, lambda: otherwise)


def select(keep, new, old):
    return jax.tree.map(lambda a, b: jnp.where(keep, a, b) if eqx.is_array(a) else a, new, old)


def rows_for(ts, first):
    """Room for one array at every output time; rows that are never reached stay NaN (0 for whole numbers)."""
    empty = jnp.nan if jnp.issubdtype(first.dtype, jnp.inexact) else 0
    return jnp.full((ts.shape[0], *first.shape), empty, dtype=first.dtype).at[0].set(first)


def write_row(rows, row, write, new):
    return jax.tree.map(lambda all_, x: all_.at[row].set(jnp.where(write, x, all_[row])), rows, new)


def integrate(method, model, y0, memory, ts, knots, *, record=False):
    """Adaptive run without derivatives: states at `ts`, memory there and the log of contacts, progress, and
    (optionally) the accepted steps as `noted`."""
    norm = ErrorNorm(method.structure, method.steps if isinstance(method.steps, Adaptive) else Adaptive())
    moment = begin(method, model, y0, memory, ts[0])
    progress = start(method, model, moment, ts, norm)
    outputs = jax.tree.map(lambda x: rows_for(ts, x), (moment.y, moment.memory))
    steps = jnp.zeros((method.max_steps if record else 0, noted(method, ts[0], ts[0], moment).size))

    def body(carry):
        moment, progress, outputs, steps = carry
        active = unfinished(progress, ts)
        end, shortened = aim(progress, ts, knots)
        bent = bend(method, progress, end)
        tried = attempt(method, model, moment, progress.t, end, bent, progress.jumped)
        error, fine, good = tried.error, tried.ok & tried.finite(), None
        if isinstance(method.steps, Adaptive):
            error = norm(error, moment.y, tried.y)
            good = fine & (error < 1)
        new, outcome = finish_if(
            good,
            lambda: finish(method, model, moment, tried, progress.t, end, bent),
            (moment, switches.uneventful()),
        )
        fine = fine & jnp.all(jnp.isfinite(new.y))
        verdict = judge(method, progress, end, shortened, bent, outcome, error, fine, moment.y, new.y)
        keep = verdict.keep & active
        on_output, _ = landed(progress, end, ts, knots)
        row = jnp.minimum(progress.output, ts.shape[0] - 1)
        outputs = write_row(outputs, row, keep & on_output, (new.y, new.memory))
        if record:
            place = progress.accepted
            steps = steps.at[place].set(jnp.where(keep, noted(method, end, bent, new), steps[place]), mode="drop")
        after = update(method, progress, end, verdict, outcome, ts, knots)
        return select(keep, new, moment), select(active, after, progress), outputs, steps

    carry = (moment, progress, outputs, steps)
    moment, progress, (outputs, kept), steps = lanes.while_loop(lambda c: unfinished(c[1], ts), body, carry)
    return outputs, (kept, moment.log), progress, steps
