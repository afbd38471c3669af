"""The stepping loop: accepted steps, landing on output times and knots, bookkeeping. No host callback anywhere."""

import functools

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from .. import interactions, lanes
from ..initial import spins
from ..kinematics import motion
from ..smooth import unwrap
from ..state import Memory, flatten, position_rate
from ..structure import Structure
from . import explicit, implicit, switches
from .between import between
from .flow import Flow, internal_of, sizes, unpack
from .log import Loads, Log, empty, record
from .stabilise import AbstractStabilisation
from .steps import Adaptive, ErrorNorm, Fixed

SUCCESS, MAX_STEPS, STEP_UNDERFLOW, NOT_FINITE, NO_EQUILIBRIUM = range(5)
MESSAGES = {
    SUCCESS: "success",
    MAX_STEPS: "the largest number of steps was reached",
    STEP_UNDERFLOW: "the step size became too small (a jump, a singularity, or a tolerance that cannot be met)",
    NOT_FINITE: "the state or its derivative is not finite",
    NO_EQUILIBRIUM: "no equilibrium was found",
}


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


class Outcome(eqx.Module):
    """What the end of a step brought."""

    fraction: jax.Array  # () of the step, where a switch wants it to end; 1 to keep it
    switched: jax.Array  # () whether a contact point switched
    touched: jax.Array  # () whether one touched


def uneventful():
    no = jnp.array(False)
    return Outcome(jnp.ones(()), no, no)


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


def advance(method, model, moment, t0, t1, jumped):
    """One step from t0 to t1 that is known to be kept: the new moment and its `Outcome`."""
    return finish(method, model, moment, attempt(method, model, moment, t0, t1, jumped), t0, t1)


def attempt(method, model, moment, t0, t1, jumped):
    """The solver's step from t0 to t1."""
    args = (model, moment.memory)
    if explicit.is_explicit(method.solver):
        y, error = explicit.explicit_step(method.solver.tableau, method.flow, t0, t1, moment.y, args)
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


def finish(method, model, moment, tried, t0, t1):
    """The projection after a step and the switches at its end: the new moment and its `Outcome`."""
    structure, y = method.structure, tried.y
    nq, nv, *_ = sizes(structure)
    q, v = method.stabilisation.correct(structure, model, *unpack(structure, y), t1)
    y = jnp.concatenate([*flatten(q, v), y[nq + nv :]])
    moving = motion(model, q, v)
    spin = unwrap(spins(structure, model, moving), moment.memory.spin)
    if not structure.points:
        return Moment(y, Memory(spin, moment.memory.points), tried.solver_state, None), uneventful()
    end = switches.switch(method, model, moment, y, spin, moving, t0, t1)
    log = moment.log
    if method.events:
        before = _loads(method, model, y, Memory(spin, moment.memory.points), t1)
        after = jax.lax.cond(end.any, lambda: _loads(method, model, end.y, end.memory, t1), lambda: before)

        def inside(x):
            here = between(structure, (moment.y, moment.log.loads.flow), (y, before.flow), t1 - t0, x)
            return _normal_forces(structure, model, here, moment.memory, t0 + x * (t1 - t0))

        log = record(log, end.happening, before, after, t0, t1, inside)
    return Moment(end.y, end.memory, tried.solver_state, log), Outcome(end.fraction, end.any, end.touched)


def finish_if(good, finish, otherwise):
    """`finish()`, or `otherwise` (of the same form) after a step that will be rejected anyway; `good` None: always."""
    return finish() if good is None else jax.lax.cond(good, finish, lambda: otherwise)


class Progress(eqx.Module):
    """Where the integration stands."""

    t: jax.Array
    step: jax.Array  # proposed next step, s
    controller: object
    jumped: jax.Array
    limit: jax.Array  # s, where a switch wants the next step to end; infinite if none does
    entry: jax.Array  # s, the first step that was good enough inside the last contact
    entering: jax.Array  # whether the last accepted step ended on a touch
    usual: jax.Array  # s, length of the accepted steps of late
    output: jax.Array  # index of the next output time
    accepted: jax.Array
    rejected: jax.Array
    result: jax.Array


def start(method, model, moment, ts, norm):
    """Progress before the first step."""
    controller = _pid(method)
    if controller is None:
        first, state = jnp.asarray(method.steps.step, dtype=float), None
    elif isinstance(method.steps, Adaptive):
        first, state = _first_step(method, moment, ts, norm), (jnp.ones(()), jnp.ones(()), jnp.array(False))
    else:
        order = method.solver.error_order(method.terms)
        end, state = method.steps.wrap(1).init(
            method.terms, ts[0], last(ts), moment.y, None, (model, moment.memory), method.solver.func, order
        )
        first = end - ts[0]
    finite = jnp.all(jnp.isfinite(moment.y))
    zero = jnp.zeros((), dtype=int)
    return Progress(
        ts[0],
        jax.lax.stop_gradient(first),
        state,
        jnp.array(False),
        jnp.array(jnp.inf),
        jnp.array(jnp.inf),
        jnp.array(False),
        jnp.zeros(()),
        zero + 1,
        zero,
        zero,
        jnp.where(finite, SUCCESS, NOT_FINITE),
    )


def _pid(method):
    """Diffrax's PI controller on our own scalar error (its scaling is switched off: rtol 0, atol 1)."""
    if not method.adaptive:
        return None
    if isinstance(method.steps, Adaptive):
        return diffrax.PIDController(rtol=0.0, atol=1.0, pcoeff=0.3, icoeff=0.4, dtmax=method.steps.max_step)
    return method.steps.wrap(1)


def _first_step(method, moment, ts, norm):
    """One hundredth of the time in which positions change by their own size. Forces are not looked at (compiling
    the right-hand side once more costs more than the few small or rejected steps that this may bring)."""
    steps = method.steps
    if steps.first_step is not None:
        return jnp.asarray(steps.first_step)
    span = last(ts) - ts[0]
    nq, *_ = sizes(method.structure)
    q, v = unpack(method.structure, moment.y)
    rate, _ = flatten(position_rate(q, v), v)
    rate = jnp.concatenate([rate, jnp.zeros(moment.y.shape[0] - nq)])
    speed = jnp.max(norm.size(rate) / norm.tolerance(moment.y, moment.y)) * steps.rtol
    h = 0.01 / jnp.maximum(speed, 1.0 / span)
    return h if steps.max_step is None else jnp.minimum(h, steps.max_step)


def aim(progress, ts, knots):
    """End of the next step: lands on the next output or knot; the last two steps before it share the distance."""
    target = ts[jnp.minimum(progress.output, ts.shape[0] - 1)]
    if knots.shape[0]:
        following = knots[jnp.minimum(jnp.searchsorted(knots, progress.t, side="right"), knots.shape[0] - 1)]
        target = jnp.where(following > progress.t, jnp.minimum(target, following), target)
    left = target - progress.t
    ratio = left / progress.step
    end = jnp.where(ratio <= 1.01, target, jnp.where(ratio < 2.0, progress.t + 0.5 * left, progress.t + progress.step))
    switching = progress.limit < end
    return jnp.where(switching, progress.limit, end), (ratio < 2.0) | switching


class Verdict(eqx.Module):
    """What follows from a step."""

    keep: jax.Array
    step: jax.Array  # s, proposed next step
    controller: object
    result: jax.Array
    limit: jax.Array  # s


def judge(method, progress, end, shortened, outcome, error, fine, y0, y1):
    """Accept or reject, and propose the next step. `error` is the scalar error over tolerance (or, for a controller
    of the user, the error estimate itself); `fine` says that the solver succeeded and all is finite. A step that is
    good but ends beyond a switch is rejected without a word to the controller."""
    done = progress
    if not method.adaptive:
        keep, step, state = fine, done.step, None
        result = jnp.where(keep, SUCCESS, NOT_FINITE)
    else:
        order = method.solver.error_order(method.terms)
        error = jnp.where(fine, error, jnp.inf)
        if isinstance(method.steps, Adaptive):
            keep, _, following, _, state, _ = _pid(method).adapt_step_size(
                done.t, end, jnp.zeros(()), jnp.zeros(()), None, error, order, done.controller
            )
        else:
            keep, _, following, _, state, _ = _pid(method).adapt_step_size(
                done.t, end, y0, y1, None, error, order, done.controller
            )
        keep = keep & fine
        step = following - jnp.where(keep, end, done.t)
        # A step that was cut short to land somewhere says nothing against the longer one that was proposed.
        step = jnp.where(keep & shortened, jnp.maximum(step, done.step), step)
        smallest = 4 * jnp.finfo(float).eps * jnp.maximum(jnp.abs(done.t), jnp.abs(end))
        result = jnp.where(~keep & (step <= smallest), STEP_UNDERFLOW, SUCCESS)
    again = keep & (outcome.fraction < 1)
    # A switch may lie within rounding of where the step begins: move on by a little, or nothing ever moves.
    least = done.t + 8 * jnp.finfo(float).eps * jnp.maximum(jnp.abs(done.t), jnp.abs(end))
    limit = jnp.where(again, jnp.maximum(done.t + outcome.fraction * (end - done.t), least), jnp.inf)
    step = jnp.where(again, done.step, step)
    state = jax.tree.map(lambda old, new: jnp.where(again, old, new), done.controller, state)
    return Verdict(keep & ~again, *jax.lax.stop_gradient((step, state, result, limit)))


def landed(progress, end, ts, knots):
    """Whether the step ends on the next output time, and whether on a knot."""
    on_output = end == ts[jnp.minimum(progress.output, ts.shape[0] - 1)]
    on_knot = jnp.any(end == knots) if knots.shape[0] else jnp.array(False)
    return on_output, on_knot


def update(method, progress, end, verdict, outcome, ts, knots):
    """Progress after a step was judged."""
    on_output, on_knot = landed(progress, end, ts, knots)
    keep = verdict.keep
    accepted = progress.accepted + keep
    rejected = progress.rejected + ~keep
    output = progress.output + (keep & on_output)
    # Contacts of one mechanism resemble each other: begin the next as the last one had to be begun.
    entry = jnp.where(keep & progress.entering, end - progress.t, progress.entry)
    step = jnp.where(keep & outcome.touched, jnp.minimum(verdict.step, entry), verdict.step)
    exhausted = (accepted + rejected >= method.max_steps) & (output < wanted(ts))
    result = jnp.where(exhausted & (verdict.result == SUCCESS), MAX_STEPS, verdict.result)
    return Progress(
        jnp.where(keep, end, progress.t),
        step if method.adaptive else verdict.step,
        verdict.controller,
        jnp.where(keep, on_knot | outcome.switched, progress.jumped),
        verdict.limit,
        entry,
        jnp.where(keep, outcome.touched, progress.entering),
        jnp.where(keep, jnp.maximum(end - progress.t, 0.8 * progress.usual), progress.usual),
        output,
        accepted,
        rejected,
        result,
    )


def unfinished(progress, ts):
    return (progress.output < wanted(ts)) & (progress.result == SUCCESS)


def wanted(ts):
    """Number of outputs; infinite times at the end are room that is not used."""
    return jnp.sum(jnp.isfinite(ts))


def last(ts):
    """The last output time."""
    return ts[wanted(ts) - 1]


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
    (optionally) the accepted ends."""
    norm = ErrorNorm(method.structure, method.steps if isinstance(method.steps, Adaptive) else Adaptive())
    moment = begin(method, model, y0, memory, ts[0])
    progress = start(method, model, moment, ts, norm)
    outputs = jax.tree.map(lambda x: rows_for(ts, x), (moment.y, moment.memory))
    ends = jnp.zeros(method.max_steps if record else 0)

    def body(carry):
        moment, progress, outputs, ends = carry
        active = unfinished(progress, ts)
        end, shortened = aim(progress, ts, knots)
        tried = attempt(method, model, moment, progress.t, end, progress.jumped)
        error, fine, good = tried.error, tried.ok & tried.finite(), None
        if isinstance(method.steps, Adaptive):
            error = norm(error, moment.y, tried.y)
            good = fine & (error < 1)
        new, outcome = finish_if(
            good, lambda: finish(method, model, moment, tried, progress.t, end), (moment, uneventful())
        )
        fine = fine & jnp.all(jnp.isfinite(new.y))
        verdict = judge(method, progress, end, shortened, outcome, error, fine, moment.y, new.y)
        keep = verdict.keep & active
        on_output, _ = landed(progress, end, ts, knots)
        row = jnp.minimum(progress.output, ts.shape[0] - 1)
        outputs = write_row(outputs, row, keep & on_output, (new.y, new.memory))
        if record:
            place = progress.accepted
            ends = ends.at[place].set(jnp.where(keep, end, ends[place]), mode="drop")
        after = update(method, progress, end, verdict, outcome, ts, knots)
        return select(keep, new, moment), select(active, after, progress), outputs, ends

    carry = (moment, progress, outputs, ends)
    moment, progress, (outputs, kept), ends = lanes.while_loop(lambda c: unfinished(c[1], ts), body, carry)
    return outputs, (kept, moment.log), progress, ends
