"""Where an integration stands, where its next step ends, and what follows from a step: step sizes, landing on outputs,
knots and switches."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp

from ..state import flatten, position_rate
from . import explicit
from .flow import sizes, unpack
from .steps import Adaptive

SUCCESS, MAX_STEPS, STEP_UNDERFLOW, NOT_FINITE, NO_EQUILIBRIUM, STANDSTILL = range(6)
MESSAGES = {
    SUCCESS: "success",
    MAX_STEPS: "the largest number of steps was reached",
    STEP_UNDERFLOW: "the step size became too small (a jump, a singularity, or a tolerance that cannot be met)",
    NOT_FINITE: "the state or its derivative is not finite",
    NO_EQUILIBRIUM: "no equilibrium was found",
    STANDSTILL: "time stands still: a contact switches back and forth on the spot (`RestitutionSpring` under a load "
    "does; `SmoothRestitutionSpring` comes to rest)",
}
_STANDSTILL = 500  # steps in a row that time does not outgrow; switches that coincide take a few dozen at most


class Progress(eqx.Module):
    """Where the integration stands."""

    t: jax.Array
    step: jax.Array  # proposed next step, s
    controller: object
    jumped: jax.Array
    limit: jax.Array  # s, where a switch wants the next step to end; infinite if none does
    entry: jax.Array  # s, the first step that was good enough inside the last contact
    entering: jax.Array  # whether the last accepted step ended on a touch
    flight: jax.Array  # s, the step that was proposed when the last contact began
    since: jax.Array  # s, the last touch; minus infinity if none counts
    until: jax.Array  # s, where a contact is expected to end; infinite if that is not known
    output: jax.Array  # index of the next output time
    accepted: jax.Array
    rejected: jax.Array
    still: jax.Array  # steps since time last moved by more than rounding
    result: jax.Array


_FRESH = (1.0, 1.0, False)  # state of diffrax's controller that has seen nothing


def start(method, model, moment, ts, norm):
    """Progress before the first step."""
    controller = _pid(method)
    if controller is None:
        first, state = jnp.asarray(method.steps.step, dtype=float), None
    elif isinstance(method.steps, Adaptive):
        first, state = _first_step(method, moment, ts, norm), jax.tree.map(jnp.asarray, _FRESH)
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
        jnp.array(-jnp.inf),
        jnp.array(jnp.inf),
        zero + 1,
        zero,
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
    switch = jnp.maximum(jnp.minimum(progress.limit, progress.until), _next(progress.t, end))
    switching = switch < end
    end = jnp.where(switching, switch, end)
    return end, (ratio < 2.0) | switching


def _bends(method):
    """Whether steps bend: explicit ones under mbjax's own control, not equal steps nor those of a user's controller."""
    return isinstance(method.steps, Adaptive) and explicit.is_explicit(method.solver)


def bend(method, progress, end):
    """How time bends in a step (`explicit_step`). Forces of contacts grow like a power of the time since the touch that
    is not whole (Hertz: 3/2), and fall like it towards the release; in the square root of that time they are smooth."""
    if not _bends(method):
        return jnp.zeros(())
    step = end - progress.t
    since, until = jnp.sqrt(progress.t - progress.since), jnp.sqrt(progress.until - progress.t)
    passed = step / (since + jnp.sqrt(end - progress.since)) ** 2
    left = step / (until + jnp.sqrt(jnp.maximum(progress.until - end, 0.0))) ** 2
    left = jnp.where(progress.until >= end, left, 0.0)
    return jnp.where(passed > left, passed, -left)


def _next(t, end):
    """A time just after t: a switch may lie within rounding of where a step begins, and nothing would ever move."""
    return t + 8 * jnp.finfo(float).eps * jnp.maximum(jnp.abs(t), jnp.abs(end))


class Verdict(eqx.Module):
    """What follows from a step."""

    keep: jax.Array
    step: jax.Array  # s, proposed next step
    instead: jax.Array  # s, what this step should have been
    controller: object
    result: jax.Array
    limit: jax.Array  # s


def judge(method, progress, end, shortened, bend, outcome, error, fine, y0, y1):
    """Accept or reject, and propose the next step. `error` is the scalar error over tolerance (or, for a controller
    of the user, the error estimate itself); `fine` says that the solver succeeded and all is finite. A step that is
    good but ends beyond a switch is rejected without a word to the controller."""
    done = progress
    if not method.adaptive:
        keep, step, instead, state = fine, done.step, done.step, None
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
        h = end - done.t
        factor = (following - jnp.where(keep, end, done.t)) / h
        instead = _within(h, factor, bend)
        step = jnp.where(keep, _after(h, factor, bend, outcome.until - end), instead)
        if isinstance(method.steps, Adaptive) and method.steps.max_step is not None:
            step = jnp.minimum(step, method.steps.max_step)
        # A step that was cut short to land somewhere says nothing against the longer one that was proposed.
        step = jnp.where(keep & shortened, jnp.maximum(step, done.step), step)
        smallest = 4 * jnp.finfo(float).eps * jnp.maximum(jnp.abs(done.t), jnp.abs(end))
        result = jnp.where(~keep & (step <= smallest), STEP_UNDERFLOW, SUCCESS)
    again = keep & (outcome.fraction < 1)
    limit = jnp.where(again, done.t + outcome.fraction * (end - done.t), jnp.inf)
    step = jnp.where(again, done.step, step)
    state = jax.tree.map(lambda old, new: jnp.where(again, old, new), done.controller, state)
    if isinstance(method.steps, Adaptive):
        state = jax.tree.map(lambda new, fresh: jnp.where(keep & shortened, fresh, new), state, _FRESH)
    return Verdict(keep & ~again, *jax.lax.stop_gradient((step, instead, state, result, limit)))


def _within(h, factor, bend):
    """The step instead of one of length h that ends at `factor` times what the solver saw."""
    return h * factor * (1 - bend + bend * factor)


def _after(h, factor, bend, left):
    """The step after one of length h, `factor` times as long in the time that the solver sees; `left` is the time until
    the release. After a touch the growth is half of what even steps in the square root of time would bring: what
    follows is not as smooth as that."""
    known = (bend < 0) & jnp.isfinite(left)
    root = jnp.sqrt(jnp.where(known, jnp.maximum(left, 0.0), 1.0))
    forth = jnp.minimum(factor * jnp.sqrt(h * jnp.abs(bend)), root)
    return jnp.where(known, forth * (2 * root - forth), h * factor * (1 + jnp.maximum(bend, 0.0) * factor))


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
    touched = keep & jnp.isfinite(outcome.touched)
    # Contacts of one mechanism resemble each other: begin the next as the last one should have been begun.
    entry = jnp.where(keep & progress.entering, verdict.instead, progress.entry)
    step = jnp.where(touched, jnp.minimum(verdict.step, entry), verdict.step)
    # And so do flights: begin them about as the last one ended.
    apart = keep & outcome.switched & outcome.apart
    flight = jnp.where(touched, progress.step, progress.flight)
    step = jnp.where(apart, jnp.maximum(step, 0.7 * flight), step)
    since = jnp.where(touched, outcome.touched, jnp.where(apart, -jnp.inf, progress.since))
    # A step that is tried again has the end of the contact in the same place, or it knows better.
    until = jnp.where(keep, outcome.until, jnp.minimum(outcome.until, progress.until))
    until = until if _bends(method) else progress.until
    missed = keep & (end == progress.limit) & ~outcome.switched
    limit = jnp.where(missed, outcome.meeting, verdict.limit)
    limit = jnp.where(keep, jnp.minimum(limit, outcome.cornering), limit)
    exhausted = (accepted + rejected >= method.max_steps) & (output < wanted(ts))
    moved = end - progress.t > 8 * (_next(progress.t, end) - progress.t)
    still = jnp.where(keep & moved, 0, progress.still + 1)
    result = jnp.where(exhausted & (verdict.result == SUCCESS), MAX_STEPS, verdict.result)
    result = jnp.where((still >= _STANDSTILL) & (result == SUCCESS), STANDSTILL, result)
    return Progress(
        jnp.where(keep, end, progress.t),
        step if method.adaptive else verdict.step,
        verdict.controller,
        jnp.where(keep, on_knot | outcome.switched, progress.jumped),
        limit,
        entry,
        jnp.where(keep, touched, progress.entering),
        flight,
        since,
        until,
        output,
        accepted,
        rejected,
        still,
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
