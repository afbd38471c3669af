"""Tangents of a run, many at once and side by side (`lanes`): integrated with the state under one step control (a JAX
primitive, so that columns of a Jacobian become one integration), or along the recorded steps of the plain run.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import lanes
from . import loop, switches
from .progress import aim, bend, judge, landed, start, unfinished, update
from .replay import replay_steps, replayed
from .steps import Adaptive, ErrorNorm


def configure(method, model, y0, memory):
    """Split a run into its static half and two lists of arrays: those with derivatives, and settings without."""
    inputs, fixed = eqx.partition((model, y0, memory), eqx.is_inexact_array)
    leaves, treedef = jax.tree.flatten(inputs)
    settings, frame = eqx.partition((method, fixed), eqx.is_array)
    settings_leaves = [jax.lax.stop_gradient(x) for x in jax.tree.leaves(settings)]
    return Config(treedef, frame, jax.tree.structure(settings)), leaves, settings_leaves


class Config:
    """Static half of a run, hashable, so that it can be the parameter of a primitive."""

    def __init__(self, treedef, frame, settings_def):
        self.treedef, self.frame, self.settings_def = treedef, frame, settings_def
        frame_leaves, frame_def = jax.tree.flatten(frame)
        self.key = (treedef, settings_def, frame_def, tuple(map(repr, frame_leaves)))

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return isinstance(other, Config) and self.key == other.key

    def open(self, leaves, settings):
        """`(method, model, y0, memory)`."""
        method, fixed = eqx.combine(jax.tree.unflatten(self.settings_def, settings), self.frame)
        model, y0, memory = eqx.combine(jax.tree.unflatten(self.treedef, leaves), fixed)
        return method, model, y0, memory

    def index_of_y0(self):
        """Position of y0 among the leaves: after those of the model."""
        marked = jax.tree.unflatten(self.treedef, range(self.treedef.num_leaves))
        return marked[1]

    def tree(self, felt, arrays):
        """(model, y0, memory) with only the leaves at the places `felt`."""
        known = dict(zip(felt, arrays, strict=True))
        return jax.tree.unflatten(self.treedef, [known.get(k) for k in range(self.treedef.num_leaves)])


def some_of(leaves, felt):
    return [leaves[k] for k in felt]


def _exchanged(leaves, felt, some):
    known = dict(zip(felt, some, strict=True))
    return [known.get(k, x) for k, x in enumerate(leaves)]


class _Start:
    """A run and tangents of it before the first step, by the leaves at the places `felt`: what has no tangent costs
    nothing. `seeds` have one more axis, first; inside, tangents lie along the last axis (`lanes`)."""

    def __init__(self, config, leaves, settings, ts, felt, seeds):
        self.method, *whole = config.open(leaves, settings)
        self.count = seeds[0].shape[0]
        inputs = config.tree(felt, some_of(leaves, felt))
        inputs_dot = config.tree(felt, [jnp.moveaxis(seed, 0, -1) for seed in seeds])
        self.model_whole, self.model_moving, self.model_dot = whole[0], inputs[0], inputs_dot[0]

        def first(inputs):
            model, y0, memory = eqx.combine(inputs, tuple(whole))
            return eqx.partition(loop.begin(self.method, model, y0, memory, ts[0]), eqx.is_inexact_array)

        moving, rest, self.moment_dot = self.both(first, (inputs,), (inputs_dot,))
        self.moment = eqx.combine(moving, rest)
        self.rows_dot = jax.tree.map(lambda x: loop.rows_for(ts, x), (self.moment_dot.y, self.moment_dot.memory))

    def model(self, moving):
        return eqx.combine(moving, self.model_whole)

    def both(self, function, primals, dots):
        """A function's value (tangent-free parts included) and its tangents."""

        def push(dots):
            return jax.jvp(function, primals, dots, has_aux=True)

        (moving, dots, rest), laned = lanes.side_by_side(push, self.count, dots)
        assert not any(jax.tree.leaves((laned[0], laned[2]))), "a value depends on a tangent"
        return moving, rest, jax.tree.map(lambda x, has: lanes.wide(x, has, self.count), dots, laned[1])


def _leading(rows_dot, moment_dot):
    """Tangents of the outputs and of the log, along the first axis."""
    return [jnp.moveaxis(x, -1, 0) for x in jax.tree.leaves((rows_dot, moment_dot.log))]


# --- along the recorded steps of the plain run ---------------------------------------------------------------------


def along_steps(config, felt, leaves, settings, ts, knots, steps, count, seed):
    """Tangents of the outputs, inexact parts of memory and log, by one seed of the leaves at the places `felt`; a batch
    of seeds goes side by side, and further derivatives go through `replay_steps`."""

    def replay(leaves, settings, ts, knots, steps, count, seed):
        def run(some):
            full = config.open(_exchanged(leaves, felt, some), settings)
            found = replay_steps(*full, ts, knots, steps, count)
            return jax.tree.leaves(eqx.filter(found, eqx.is_inexact_array))

        return jax.jvp(run, (some_of(leaves, felt),), (seed,))[1]

    @jax.custom_batching.custom_vmap
    def push(*operands):
        return replay(*operands)

    @push.def_vmap
    def _(size, batched, *operands):
        if any(jax.tree.leaves(batched[:-1])):
            outs = jax.vmap(replay, in_axes=jax.tree.map(lambda b: 0 if b else None, batched))(*operands)
        else:
            *fixed, seed = operands
            wide = [x if b else jnp.broadcast_to(x, (size, *x.shape)) for x, b in zip(seed, batched[-1], strict=True)]
            outs = _side_by_side(config, felt, *fixed, wide)
        return outs, [True] * len(outs)

    @jax.custom_jvp
    def tangents(*operands):
        return push(*operands)

    @tangents.defjvp
    def _(primals, dots):
        return jax.jvp(replay, primals, dots)

    found = tangents(leaves, settings, ts, knots, steps, count, seed)
    return [_forward_only_p.bind(x) for x in found]


_forward_only_p = Primitive("mbjax_forward_only")
_forward_only_p.def_impl(lambda x: x)
_forward_only_p.def_abstract_eval(lambda x: x)
mlir.register_lowering(_forward_only_p, mlir.lower_fun(lambda x: x, multiple_results=False))
batching.defvectorized(_forward_only_p)


def _no_reverse(cotangent, x):
    raise NotImplementedError(
        "The adjoint `ForwardMode` gives forward derivatives (`jax.jacfwd`, `jax.jvp`) only. For `jax.grad` and "
        "`jax.jacrev` use the default or adjoint=Replay()."
    )


ad.deflinear2(_forward_only_p, _no_reverse)


def _side_by_side(config, felt, leaves, settings, ts, knots, steps, count, seeds):
    at = _Start(config, leaves, settings, ts, felt, seeds)

    def body(carry):
        moment, moment_dot, k, row, jumped, t, rows_dot = carry
        step, end = steps[k], steps[k, 0]
        inexact, exact = eqx.partition(moment, eqx.is_inexact_array)

        def advance(moving, inexact):
            before = eqx.combine(inexact, exact)
            new, outcome = loop.advance(at.method, at.model(moving), before, t, step, jumped)
            new, rest = eqx.partition(new, eqx.is_inexact_array)
            return new, (rest, outcome.switched)

        new, (rest, switched), new_dot = at.both(advance, (at.model_moving, inexact), (at.model_dot, moment_dot))
        on_output = end == ts[jnp.minimum(row, ts.shape[0] - 1)]
        rows_dot = loop.write_row(rows_dot, row, on_output, (new_dot.y, new_dot.memory))
        on_knot = jnp.any(end == knots) if knots.shape[0] else jnp.array(False)
        return eqx.combine(new, rest), new_dot, k + 1, row + on_output, on_knot | switched, end, rows_dot

    zero = jnp.zeros((), dtype=int)
    carry = (at.moment, at.moment_dot, zero, zero + 1, jnp.array(False), ts[0], at.rows_dot)
    _, moment_dot, *_, rows_dot = jax.lax.while_loop(lambda c: c[2] < count, body, carry)
    return _leading(rows_dot, moment_dot)


# --- integrated with the state -------------------------------------------------------------------------------------


def _joint(config, felt, leaves, settings, ts, knots, seeds):
    """Integrate state and tangents together."""
    at = _Start(config, leaves, settings, ts, felt, seeds)
    method, both = at.method, at.both
    norm = ErrorNorm(method.structure, method.steps if isinstance(method.steps, Adaptive) else Adaptive())
    relative = _relative_size(some_of(leaves, felt), seeds)
    progress = start(method, at.model(at.model_moving), at.moment, ts, norm)

    def body(carry):
        moment, moment_dot, progress, rows_dot = carry
        end, shortened = aim(progress, ts, knots)
        bent = bend(method, progress, end)
        inexact, exact = eqx.partition(moment, eqx.is_inexact_array)

        def attempt(moving, inexact):
            tried = loop.attempt(
                method, at.model(moving), eqx.combine(inexact, exact), progress.t, end, bent, progress.jumped
            )
            return eqx.partition(tried, eqx.is_inexact_array)

        moving, rest, tried_dot = both(attempt, (at.model_moving, inexact), (at.model_dot, moment_dot))
        tried = eqx.combine(moving, rest)
        error, good = tried.error, None
        fine = tried.ok & tried.finite() & jnp.all(jnp.isfinite(tried_dot.error))
        if isinstance(method.steps, Adaptive):
            of_motion = norm(error, moment.y, tried.y)
            of_tangents = norm.of_tangents(tried_dot.error, moment_dot.y, tried_dot.y, moment.y, tried.y, relative)
            error = jnp.maximum(of_motion, of_tangents)
            good = fine & (error < 1)

        def finish(moving, inexact, attempted):
            before, tried = eqx.combine(inexact, exact), eqx.combine(attempted, rest)
            new, outcome = loop.finish(method, at.model(moving), before, tried, progress.t, end, bent)
            inexact_, exact_ = eqx.partition(new, eqx.is_inexact_array)
            return inexact_, (exact_, jax.lax.stop_gradient(outcome))

        new, (new_exact, outcome), new_dot = loop.finish_if(
            good,
            lambda: both(finish, (at.model_moving, inexact, moving), (at.model_dot, moment_dot, tried_dot)),
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

    carry = (at.moment, at.moment_dot, progress, at.rows_dot)
    _, moment_dot, _, rows_dot = jax.lax.while_loop(lambda c: unfinished(c[2], ts), body, carry)
    return _leading(rows_dot, moment_dot)


def _relative_size(leaves, seeds):
    """Largest relative parameter change that each seed stands for (p,)."""
    ratios = []
    for leaf, seed in zip(leaves, seeds, strict=True):
        scale = jnp.max(jnp.abs(leaf), initial=0.0)
        size = jnp.max(jnp.abs(seed.reshape(seed.shape[0], -1)), axis=-1, initial=0.0)
        ratios.append(size / jnp.where(scale > 0, scale, 1.0))
    return functools.reduce(jnp.maximum, ratios)


def _joint_flat(*operands, config, sizes, felt):
    return _joint(config, felt, *_split(operands, sizes))


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


tangents_p = Primitive("mbjax_tangents")
tangents_p.multiple_results = True


@functools.partial(jax.jit, static_argnames=("config", "sizes", "felt"))
def _tangents_impl(*operands, config, sizes, felt):
    return _joint_flat(*operands, config=config, sizes=sizes, felt=felt)


tangents_p.def_impl(lambda *operands, **params: list(_tangents_impl(*operands, **params)))
mlir.register_lowering(tangents_p, mlir.lower_fun(_joint_flat, multiple_results=True))


@tangents_p.def_abstract_eval
def _(*operands, config, sizes, felt):
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


def _tangents_batch(operands, dims, *, config, sizes, felt):
    """Batching over seeds alone stacks them as more tangents of one run; anything else is a batch of runs."""
    fixed = sum(sizes) + 2
    if all(d is None for d in dims[:fixed]):
        count = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
        seeds = []
        for x, d in zip(operands[fixed:], dims[fixed:], strict=True):
            full = jnp.broadcast_to(x, (count, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
            seeds.append(full.reshape(count * full.shape[1], *full.shape[2:]))
        outs = tangents_p.bind(*operands[:fixed], *seeds, config=config, sizes=sizes, felt=felt)
        each = seeds[0].shape[0] // count
        return [o.reshape(count, each, *o.shape[1:]) for o in outs], [0] * len(outs)
    function = functools.partial(_joint_flat, config=config, sizes=sizes, felt=felt)
    outs = jax.vmap(function, in_axes=tuple(None if d is None else d for d in dims))(*operands)
    return list(outs), [0] * len(outs)


batching.primitive_batchers[tangents_p] = _tangents_batch


def _tangents_transpose(cotangents, *operands, config, sizes, felt):
    """Reverse mode: pull the cotangents back through a replay of the plain run."""
    fixed = sum(sizes) + 2
    leaves, settings, ts, knots, _ = _split([*operands[:fixed], *operands[fixed:]], sizes)
    count = operands[fixed].aval.shape[0]
    ct = [jnp.zeros(c.aval.shape) if isinstance(c, ad.Zero) else c for c in cotangents]

    def run(some):
        return replayed(None, config, _exchanged(leaves, felt, some), settings, ts, knots)

    _, pull, trust = jax.vjp(run, some_of(leaves, felt), has_aux=True)
    pulled = [pull((ct[0][k], [c[k] for c in ct[1:]]))[0] for k in range(count)]
    seeds_ct = [trust * jnp.stack(found) for found in zip(*pulled, strict=True)]
    return [None] * fixed + seeds_ct


ad.primitive_transposes[tangents_p] = _tangents_transpose


def _no_second_order(primals, tangents, **params):
    raise NotImplementedError(
        "The adjoint `Tangents` gives first derivatives only. For second derivatives use adjoint=ForwardMode()."
    )


ad.primitive_jvps[tangents_p] = _no_second_order
