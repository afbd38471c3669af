"""How derivatives go through a simulation.

- `Tangents` (default): state and sensitivities are integrated together and both are in the error norm, so a
  derivative is as accurate as the motion. Reverse-mode requests (`jax.grad`) are answered by `Replay`.
- `ForwardMode`: JAX differentiates the step sequence of the plain run. Cheaper, and only as accurate as the steps
  that were chosen for the motion alone: a converged motion does not vouch for its derivative.
- `Replay`: reverse mode. The accepted steps of the plain run are recorded and replayed under checkpointing, so the
  recomputation cannot take other steps than the run it differentiates. For many parameters and few outputs.
"""

import functools
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import lanes
from . import loop, switches
from .progress import aim, bend, judge, landed, start, unfinished, update
from .replay import replay_steps, replayed, unreached
from .steps import Adaptive, ErrorNorm


class AbstractAdjoint(eqx.Module):
    """Runs `integrate` so that its outputs have derivatives by its inputs (model, y0, memory, ts)."""

    @abstractmethod
    def run(self, method, model, y0, memory, ts, knots):
        """States at ts, (memory at ts, log of contacts), progress."""


class Tangents(AbstractAdjoint):
    """State and sensitivities in one integration, sensitivities in the error norm; for up to about 30 parameters.

    `jax.jacfwd` integrates all columns at once. Reverse mode falls back to `Replay` on the steps of the plain run.
    """

    def run(self, method, model, y0, memory, ts, knots):
        return _with_tangents(method, model, y0, memory, ts, knots)


class ForwardMode(AbstractAdjoint):
    """Forward derivatives of the plain run's own steps: they are recorded and replayed, as `Replay` does in reverse, so
    the two agree to rounding."""

    def run(self, method, model, y0, memory, ts, knots):
        fixed = jax.lax.stop_gradient((model, y0, memory, ts, knots))
        *_, progress, ends = loop.integrate(method, *fixed, record=True)
        y0, outputs_of = _moving_times(method, model, y0, memory, ts)
        outputs, kept = replay_steps(method, model, y0, memory, fixed[3], fixed[4], ends, progress.accepted)
        reached = jnp.arange(ts.shape[0]) < progress.output
        kept, log = kept
        outputs, kept = jax.tree.map(lambda x: unreached(reached, x), (outputs_of(outputs, kept), kept))
        return outputs, (kept, log), progress


class Replay(AbstractAdjoint):
    """Reverse mode by recording the accepted steps and replaying them; `checkpoints` trades memory for time."""

    checkpoints: int | None = eqx.field(static=True, default=None)

    def run(self, method, model, y0, memory, ts, knots):
        config, leaves, settings = _configure(method, model, y0, memory)

        @jax.custom_vjp
        def run(leaves, settings, ts, knots):
            outputs, kept, progress, _ = loop.integrate(*config.open(leaves, settings), ts, knots)
            return outputs, kept, progress

        def forward(leaves, settings, ts, knots):
            out = run(leaves, settings, ts, knots)
            return out, (leaves, settings, ts, knots, out[0], out[1][0])

        def backward(saved, cotangents):
            leaves, settings, ts, knots, outputs, kept = saved
            moving = [c for c in jax.tree.leaves(cotangents[1]) if c.dtype != jax.dtypes.float0]
            leaves_ct, y0_ct = self._pull(config, leaves, settings, ts, knots, (cotangents[0], moving))
            method, model, *_ = config.open(leaves, settings)
            rates = _rates(method, model, ts, outputs, kept)
            ts_ct = jnp.sum(rates * cotangents[0], axis=-1).at[0].add(-jnp.dot(rates[0], y0_ct))
            return leaves_ct, [None] * len(settings), ts_ct, None

        run.defvjp(forward, backward)
        return run(leaves, settings, ts, knots)

    def _pull(self, config, leaves, settings, ts, knots, cotangents):
        _, pull, trust = jax.vjp(
            lambda x: replayed(self.checkpoints, config, x, settings, ts, knots), leaves, has_aux=True
        )
        leaves_ct = [trust * x for x in pull(cotangents)[0]]
        return leaves_ct, leaves_ct[config.index_of_y0()]


def _moving_times(method, model, y0, memory, ts):
    """Derivatives by the output times: zero in value, flow in derivative. Shifting the start moves the whole run."""
    fixed = jax.lax.stop_gradient(ts)
    args = (model, memory)
    start = y0 - method.flow(fixed[0], jax.lax.stop_gradient(y0), jax.lax.stop_gradient(args)) * (ts[0] - fixed[0])

    def outputs_of(outputs, kept):
        rates = _rates(method, *jax.lax.stop_gradient((model, fixed, outputs, kept)))
        return outputs + rates * (ts - fixed)[:, None]

    return start, outputs_of


def _rates(method, model, ts, outputs, kept):
    """dy/dt at the outputs."""
    return jax.vmap(lambda t, y, memory: method.flow(t, y, (model, memory)))(ts, outputs, kept)


def _configure(method, model, y0, memory):
    """Split a run into its static half and two lists of arrays: those with derivatives, and settings without."""
    inputs, fixed = eqx.partition((model, y0, memory), eqx.is_inexact_array)
    leaves, treedef = jax.tree.flatten(inputs)
    settings, frame = eqx.partition((method, fixed), eqx.is_array)
    settings_leaves = [jax.lax.stop_gradient(x) for x in jax.tree.leaves(settings)]
    return _Config(treedef, frame, jax.tree.structure(settings)), leaves, settings_leaves


def _with_tangents(method, model, y0, memory, ts, knots):
    """`integrate` whose tangents come from `_joint`."""
    config, leaves, settings = _configure(method, model, y0, memory)

    @jax.custom_jvp
    def run(leaves, settings, ts, knots):
        outputs, kept, progress, _ = loop.integrate(*config.open(leaves, settings), ts, knots)
        return outputs, kept, progress

    @functools.partial(run.defjvp, symbolic_zeros=True)
    def _(primals, tangents):
        leaves, settings, ts, knots = primals
        leaves_dot, _, ts_dot, _ = tangents
        outputs, kept, progress = run(leaves, settings, ts, knots)
        seeds = [
            jnp.zeros_like(x) if isinstance(d, SymbolicZero) else d for x, d in zip(leaves, leaves_dot, strict=True)
        ]
        # Where times are fixed nothing below needs the plain run: a derivative without its value is spared it.
        moving_times = not isinstance(ts_dot, SymbolicZero)
        if moving_times:
            # Shifting the start moves the whole run; later outputs slide along the flow.
            method, model, *_ = config.open(leaves, settings)
            rates = _rates(method, model, ts, outputs, kept[0])
            where_y0 = config.index_of_y0()
            seeds[where_y0] = seeds[where_y0] - rates[0] * ts_dot[0]
        sizes = (len(leaves), len(settings))
        operands = (*leaves, *settings, ts, knots, *(d[None] for d in seeds))
        outputs_dot, *memory_dot = _tangents_p.bind(*operands, config=config, sizes=sizes)
        outputs_dot = outputs_dot[0]
        if moving_times:
            outputs_dot = outputs_dot + rates * ts_dot[:, None]
        memory_dot = iter([m[0] for m in memory_dot])
        kept_dot = jax.tree.map(lambda x: next(memory_dot) if eqx.is_inexact_array(x) else _zero(x), kept)
        return (outputs, kept, progress), (outputs_dot, kept_dot, _no_tangent(progress))

    # Empty arrays are made anew: JAX (0.10) returns one axis too many where only the tangents of an output are batched.
    found = run(leaves, settings, ts, jax.lax.stop_gradient(knots))
    return jax.tree.map(lambda x: x if x.size else jnp.zeros(x.shape, x.dtype), found)


class _Config:
    """Static half of a run, hashable, so that it can be the parameter of a primitive."""

    def __init__(self, treedef, frame, settings_def):
        self.treedef, self.frame, self.settings_def = treedef, frame, settings_def
        frame_leaves, frame_def = jax.tree.flatten(frame)
        self.key = (treedef, settings_def, frame_def, tuple(map(repr, frame_leaves)))

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return isinstance(other, _Config) and self.key == other.key

    def open(self, leaves, settings):
        """`(method, model, y0, memory)`."""
        method, fixed = eqx.combine(jax.tree.unflatten(self.settings_def, settings), self.frame)
        model, y0, memory = eqx.combine(jax.tree.unflatten(self.treedef, leaves), fixed)
        return method, model, y0, memory

    def index_of_y0(self):
        """Position of y0 among the leaves: after those of the model."""
        marked = jax.tree.unflatten(self.treedef, range(self.treedef.num_leaves))
        return marked[1]


def _no_tangent(tree):
    """Zero tangents of bookkeeping."""
    return jax.tree.map(_zero, tree)


def _zero(x):
    return jnp.zeros_like(x) if jnp.issubdtype(x.dtype, jnp.inexact) else np.zeros(x.shape, jax.dtypes.float0)


# --- joint integration of state and sensitivities ------------------------------------------------------------------


def _joint(config, leaves, settings, ts, knots, seeds):
    """Integrate state and `p` tangents together. `seeds` are stacked: each leaf has a leading axis p. Inside, tangents
    lie along the last axis (`lanes`)."""
    method, model, y0, memory = config.open(leaves, settings)
    norm = ErrorNorm(method.structure, method.steps if isinstance(method.steps, Adaptive) else Adaptive())
    inputs, fixed = eqx.partition((model, y0, memory), eqx.is_inexact_array)
    model_fixed = fixed[0]
    inputs_dot = jax.tree.unflatten(config.treedef, [jnp.moveaxis(seed, 0, -1) for seed in seeds])
    model_moving, model_dot = inputs[0], inputs_dot[0]
    count = seeds[0].shape[0]

    def both(function, primals, dots):
        """A function's value (tangent-free parts included) and its `count` tangents."""

        def push(dots):
            return jax.jvp(function, primals, dots, has_aux=True)

        (moving, dots, rest), laned = lanes.side_by_side(push, count, dots)
        assert not any(jax.tree.leaves((laned[0], laned[2]))), "a value depends on a tangent"
        return moving, rest, jax.tree.map(lambda x, has: lanes.wide(x, has, count), dots, laned[1])

    def first(inputs):
        model, y0, memory = eqx.combine(inputs, fixed)
        return eqx.partition(loop.begin(method, model, y0, memory, ts[0]), eqx.is_inexact_array)

    moving, rest, moment_dot = both(first, (inputs,), (inputs_dot,))
    moment = eqx.combine(moving, rest)
    relative = _relative_size(leaves, seeds)
    progress = start(method, model, moment, ts, norm)
    rows_dot = jax.tree.map(lambda x: loop.rows_for(ts, x), (moment_dot.y, moment_dot.memory))

    def body(carry):
        moment, moment_dot, progress, rows_dot = carry
        end, shortened = aim(progress, ts, knots)
        bent = bend(method, progress, end)
        inexact, exact = eqx.partition(moment, eqx.is_inexact_array)

        def attempt(model_moving, inexact):
            model = eqx.combine(model_moving, model_fixed)
            tried = loop.attempt(method, model, eqx.combine(inexact, exact), progress.t, end, bent, progress.jumped)
            return eqx.partition(tried, eqx.is_inexact_array)

        moving, rest, tried_dot = both(attempt, (model_moving, inexact), (model_dot, moment_dot))
        tried = eqx.combine(moving, rest)
        error, good = tried.error, None
        fine = tried.ok & tried.finite() & jnp.all(jnp.isfinite(tried_dot.error))
        if isinstance(method.steps, Adaptive):
            of_motion = norm(error, moment.y, tried.y)
            of_tangents = norm.of_tangents(tried_dot.error, moment_dot.y, tried_dot.y, moment.y, tried.y, relative)
            error = jnp.maximum(of_motion, of_tangents)
            good = fine & (error < 1)

        def finish(model_moving, inexact, moving):
            model = eqx.combine(model_moving, model_fixed)
            before, tried = eqx.combine(inexact, exact), eqx.combine(moving, rest)
            new, outcome = loop.finish(method, model, before, tried, progress.t, end, bent)
            inexact_, exact_ = eqx.partition(new, eqx.is_inexact_array)
            return inexact_, (exact_, jax.lax.stop_gradient(outcome))

        new, (new_exact, outcome), new_dot = loop.finish_if(
            good,
            lambda: both(finish, (model_moving, inexact, moving), (model_dot, moment_dot, tried_dot)),
            (inexact, (exact, switches.uneventful()), moment_dot),
        )
        new = eqx.combine(new, new_exact)
        fine = fine & jnp.all(jnp.isfinite(new.y))
        verdict = judge(method, progress, end, shortened, bent, outcome, error, fine, moment.y, new.y)
        on_output, _ = landed(progress, end, ts, knots)
        row = jnp.minimum(progress.output, ts.shape[0] - 1)
        rows_dot = loop.write_row(rows_dot, row, verdict.keep & on_output, (new_dot.y, new_dot.memory))
        progress = update(method, progress, end, verdict, outcome, ts, knots)
        moment = loop.select(verdict.keep, new, moment)
        return moment, loop.select(verdict.keep, new_dot, moment_dot), progress, rows_dot

    carry = (moment, moment_dot, progress, rows_dot)
    _, moment_dot, _, rows_dot = jax.lax.while_loop(lambda c: unfinished(c[2], ts), body, carry)
    return [jnp.moveaxis(x, -1, 0) for x in jax.tree.leaves((rows_dot, moment_dot.log))]


def _relative_size(leaves, seeds):
    """Largest relative parameter change that each seed stands for (p,)."""
    ratios = []
    for leaf, seed in zip(leaves, seeds, strict=True):
        scale = jnp.max(jnp.abs(leaf), initial=0.0)
        size = jnp.max(jnp.abs(seed.reshape(seed.shape[0], -1)), axis=-1, initial=0.0)
        ratios.append(size / jnp.where(scale > 0, scale, 1.0))
    return functools.reduce(jnp.maximum, ratios)


def _joint_flat(*operands, config, sizes):
    return _joint(config, *_split(operands, sizes))


def _split(operands, sizes):
    """leaves, settings, ts, knots, seeds."""
    a, b = sizes
    return (
        list(operands[:a]),
        list(operands[a : a + b]),
        operands[a + b],
        operands[a + b + 1],
        list(operands[a + b + 2 :]),
    )


_tangents_p = Primitive("mbjax_tangents")
_tangents_p.multiple_results = True


@functools.partial(jax.jit, static_argnames=("config", "sizes"))
def _tangents_impl(*operands, config, sizes):
    return _joint_flat(*operands, config=config, sizes=sizes)


_tangents_p.def_impl(lambda *operands, **params: list(_tangents_impl(*operands, **params)))
mlir.register_lowering(_tangents_p, mlir.lower_fun(_joint_flat, multiple_results=True))


@_tangents_p.def_abstract_eval
def _(*operands, config, sizes):
    """Shapes as `_joint` has them, without tracing all of it once more."""

    def first(leaves, settings, start):
        method, model, y0, memory = config.open(leaves, settings)
        moment = loop.begin(method, model, y0, memory, start)
        return eqx.filter(((moment.y, moment.memory), moment.log), eqx.is_inexact_array)

    leaves, settings, ts, _, seeds = _split([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in operands], sizes)
    rows, log = jax.eval_shape(first, leaves, settings, jax.ShapeDtypeStruct((), ts.dtype))
    count = seeds[0].shape[0]
    found = [jax.core.ShapedArray((count, ts.shape[0], *x.shape), x.dtype) for x in jax.tree.leaves(rows)]
    return found + [jax.core.ShapedArray((count, *x.shape), x.dtype) for x in jax.tree.leaves(log)]


def _tangents_batch(operands, dims, *, config, sizes):
    """Batching over seeds alone stacks them as more tangents of one run; anything else is a batch of runs."""
    fixed = sum(sizes) + 2
    if all(d is None for d in dims[:fixed]):
        count = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
        seeds = []
        for x, d in zip(operands[fixed:], dims[fixed:], strict=True):
            full = jnp.broadcast_to(x, (count, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
            seeds.append(full.reshape(count * full.shape[1], *full.shape[2:]))
        outs = _tangents_p.bind(*operands[:fixed], *seeds, config=config, sizes=sizes)
        each = seeds[0].shape[0] // count
        return [o.reshape(count, each, *o.shape[1:]) for o in outs], [0] * len(outs)
    function = functools.partial(_joint_flat, config=config, sizes=sizes)
    outs = jax.vmap(function, in_axes=tuple(None if d is None else d for d in dims))(*operands)
    return list(outs), [0] * len(outs)


batching.primitive_batchers[_tangents_p] = _tangents_batch


def _tangents_transpose(cotangents, *operands, config, sizes):
    """Reverse mode: pull the cotangents back through a replay of the plain run."""
    fixed = sum(sizes) + 2
    leaves, settings, ts, knots, _ = _split([*operands[:fixed], *operands[fixed:]], sizes)
    count = operands[fixed].aval.shape[0]
    ct = [jnp.zeros(c.aval.shape) if isinstance(c, ad.Zero) else c for c in cotangents]
    _, pull, trust = jax.vjp(lambda x: replayed(None, config, x, settings, ts, knots), leaves, has_aux=True)
    pulled = [pull((ct[0][k], [c[k] for c in ct[1:]]))[0] for k in range(count)]
    seeds_ct = [trust * jnp.stack([p[i] for p in pulled]) for i in range(len(leaves))]
    return [None] * fixed + seeds_ct


ad.primitive_transposes[_tangents_p] = _tangents_transpose


def _no_second_order(primals, tangents, **params):
    raise NotImplementedError(
        "The adjoint `Tangents` gives first derivatives only. For second derivatives use adjoint=ForwardMode()."
    )


ad.primitive_jvps[_tangents_p] = _no_second_order
