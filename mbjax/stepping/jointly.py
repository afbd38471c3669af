"""State and tangents integrated together, under one step control: a JAX primitive, so that columns of a Jacobian become
one integration, also of each run of a batch.

A batch of seeds is stacked as more tangents of one run. A batch of runs is a *level*: which operands have an axis for
it (0, in front; else None). Levels are told from the inside out.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import Primitive, Var
from jax.interpreters import ad, batching, mlir, partial_eval

from . import loop, switches
from .progress import aim, bend, judge, landed, start, unfinished, update
from .replay import replayed
from .steps import Adaptive, ErrorNorm
from .tangents import Start, exchanged, leading, some_of


def integrated(config, felt, leaves, settings, ts, knots, seeds):
    """Tangents of the outputs, of the inexact parts of memory and of the log, by one seed of the leaves at the places
    `felt`; and what `loop.integrate` gives, of the same integration."""
    operands, sizes = (*leaves, *settings, ts, knots, *(seed[None] for seed in seeds)), (len(leaves), len(settings))
    outs = _tangents_p.bind(*operands, config=config, sizes=sizes, felt=felt, levels=())
    moving, values = _shapes(config, leaves, settings, ts, knots)
    return [x[0] for x in outs[: len(moving)]], jax.tree.unflatten(jax.tree.structure(values), outs[len(moving) :])


def _integrate(config, felt, leaves, settings, ts, knots, seeds):
    """Tangents by all seeds, along the first axis, and values."""
    at = Start(config, leaves, settings, ts, felt, seeds)
    method, both = at.method, at.both
    norm = _norm(method)
    relative = _relative_size(some_of(leaves, felt), seeds)
    progress = start(method, at.model(at.model_moving), at.moment, ts, norm)

    def body(carry):
        moment, moment_dot, progress, rows, rows_dot = carry
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
        row, written = jnp.minimum(progress.output, ts.shape[0] - 1), verdict.keep & on_output
        rows = loop.write_row(rows, row, written, (new.y, new.memory))
        rows_dot = loop.write_row(rows_dot, row, written, (new_dot.y, new_dot.memory))
        progress = update(method, progress, end, verdict, outcome, ts, knots)
        moment = loop.select(verdict.keep, new, moment)
        return moment, loop.select(verdict.keep, new_dot, moment_dot), progress, rows, rows_dot

    rows = jax.tree.map(lambda x: loop.rows_for(ts, x), (at.moment.y, at.moment.memory))
    carry = (at.moment, at.moment_dot, progress, rows, at.rows_dot)
    moment, moment_dot, progress, rows, rows_dot = jax.lax.while_loop(lambda c: unfinished(c[2], ts), body, carry)
    return [*leading(rows_dot, moment_dot), *jax.tree.leaves((rows[0], (rows[1], moment.log), progress))]


def _norm(method):
    return ErrorNorm(method.structure, method.steps if isinstance(method.steps, Adaptive) else Adaptive())


def _relative_size(leaves, seeds):
    """Largest relative parameter change that each seed stands for (p,)."""
    ratios = []
    for leaf, seed in zip(leaves, seeds, strict=True):
        scale = jnp.max(jnp.abs(leaf), initial=0.0)
        size = jnp.max(jnp.abs(seed.reshape(seed.shape[0], -1)), axis=-1, initial=0.0)
        ratios.append(size / jnp.where(scale > 0, scale, 1.0))
    return functools.reduce(jnp.maximum, ratios)


# --- the primitive ----------------------------------------------------------------------------------------------------


def _split(operands, sizes):
    """leaves, settings, ts, knots, seeds."""
    a, b = sizes[0], sum(sizes)
    return list(operands[:a]), list(operands[a:b]), operands[b], operands[b + 1], list(operands[b + 2 :])


def _mapped(function, levels, more=0):
    """`function` of all levels; the last `more` arguments have an axis for each."""
    for axes in levels:
        function = jax.vmap(function, in_axes=(*axes, *[0] * more))
    return function


def _depths(levels, count):
    """In how many levels each of so many operands takes part."""
    return [sum(axes[k] == 0 for axes in levels) for k in range(count)]


def _all(*operands, config, sizes, felt, levels):
    return _mapped(lambda *x: _integrate(config, felt, *_split(x, sizes)), levels)(*operands)


_tangents_p = Primitive("mbjax_tangents")
_tangents_p.multiple_results = True
_tangents_p.def_impl(jax.jit(_all, static_argnames=("config", "sizes", "felt", "levels")))
mlir.register_lowering(_tangents_p, mlir.lower_fun(_all, multiple_results=True))


def _shapes(config, leaves, settings, ts, knots):
    """Of tangents (for one seed) and values of one run, without tracing all of it once more."""

    def first(leaves, settings, ts, knots):
        method, model, y0, memory = config.open(leaves, settings)
        moment = loop.begin(method, model, y0, memory, ts[0])
        rows = jax.tree.map(lambda x: loop.rows_for(ts, x), (moment.y, moment.memory))
        moving = jax.tree.leaves(eqx.filter((rows, moment.log), eqx.is_inexact_array))
        return moving, (rows[0], (rows[1], moment.log), start(method, model, moment, ts, _norm(method)))

    given = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), (leaves, settings, ts, knots))
    return jax.eval_shape(first, *given)


def _shapes_of_one(operands, config, sizes, levels):
    """`_shapes` of one run of all levels."""
    depths = _depths(levels, sum(sizes) + 2)
    one = [jax.ShapeDtypeStruct(x.shape[d:], x.dtype) for x, d in zip(operands, depths, strict=False)]
    return _shapes(config, *_split(one, sizes)[:-1])


@_tangents_p.def_abstract_eval
def _(*operands, config, sizes, felt, levels):
    moving, values = _shapes_of_one(operands, config, sizes, levels)
    before, depth = _sizes_of(operands, levels), _depths(levels, len(operands))[-1]
    count = operands[-1].shape[depth]
    dots = [jax.core.ShapedArray((*before, count, *x.shape), x.dtype) for x in moving]
    return dots + [jax.core.ShapedArray((*before, *x.shape), x.dtype) for x in jax.tree.leaves(values)]


def _sizes_of(operands, levels):
    """Runs of each level, the outermost first."""
    found, inside = [], [0] * len(operands)
    for axes in levels:
        inside = [n + (a == 0) for n, a in zip(inside, axes, strict=True)]
        # Seen from its level, an operand has the axes of the levels inside behind this one.
        depths = _depths(levels, len(operands))
        k = axes.index(0)
        found.append(operands[k].shape[depths[k] - inside[k]])
    return tuple(reversed(found))


def _batch(operands, dims, *, config, sizes, felt, levels):
    """A batch of seeds alone: more tangents of each run. Anything else: a batch of runs."""
    fixed = sum(sizes) + 2
    params = {"config": config, "sizes": sizes, "felt": felt}
    if any(d is not None for d in dims[:fixed]):
        operands = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True)]
        axes = tuple(None if d is None else 0 for d in dims)
        outs = _tangents_p.bind(*operands, **params, levels=(*levels, axes))
        return outs, [0] * len(outs)
    size = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
    depths, seeds = _depths(levels, len(operands)), []
    for x, d, n in list(zip(operands, dims, depths, strict=True))[fixed:]:
        # The new axis goes just before that of the tangents, and into it.
        if d is None:
            x = jnp.expand_dims(x, n)
            x = jnp.broadcast_to(x, (*x.shape[:n], size, *x.shape[n + 1 :]))
        else:
            x = jnp.moveaxis(x, d, n)
        seeds.append(x.reshape(*x.shape[:n], size * x.shape[n + 1], *x.shape[n + 2 :]))
    outs = _tangents_p.bind(*operands[:fixed], *seeds, **params, levels=levels)
    moving, n = len(_shapes_of_one(operands, config, sizes, levels)[0]), len(levels)
    dots = [x.reshape(*x.shape[:n], size, x.shape[n] // size, *x.shape[n + 1 :]) for x in outs[:moving]]
    return [*dots, *outs[moving:]], [n] * moving + [None] * (len(outs) - moving)


batching.primitive_batchers[_tangents_p] = _batch


# --- reverse mode: it knows the values before it knows any tangent, so they are those of the plain run ----------------


def _plain(*operands, config, sizes, levels):
    def run(*operands):
        leaves, settings, ts, knots, _ = _split(operands, sizes)
        outputs, kept, progress, _ = loop.integrate(*config.open(leaves, settings), ts, knots)
        return jax.tree.leaves((outputs, kept, progress))

    return _mapped(run, levels)(*operands)


_plain_p = Primitive("mbjax_values_of_tangents")
_plain_p.multiple_results = True
_plain_p.def_impl(jax.jit(_plain, static_argnames=("config", "sizes", "levels")))
mlir.register_lowering(_plain_p, mlir.lower_fun(_plain, multiple_results=True))


@_plain_p.def_abstract_eval
def _(*operands, config, sizes, levels):
    _, values = _shapes_of_one(operands, config, sizes, levels)
    before = _sizes_of(operands, levels)
    return [jax.core.ShapedArray((*before, *x.shape), x.dtype) for x in jax.tree.leaves(values)]


def _batch_plain(operands, dims, **params):
    outs = jax.vmap(functools.partial(_plain, **params), in_axes=tuple(dims))(*operands)
    return outs, [0] * len(outs)


batching.primitive_batchers[_plain_p] = _batch_plain


def _plain_params(config, sizes, levels):
    return {"config": config, "sizes": sizes, "levels": tuple(axes[: sum(sizes) + 2] for axes in levels)}


def _partial_eval(trace, *tracers, config, sizes, felt, levels):
    params = {"config": config, "sizes": sizes, "felt": felt, "levels": levels}
    found = trace.default_process_primitive(_tangents_p, tracers, params)
    given = [x.pval.get_known() for x in tracers[: sum(sizes) + 2]]
    if all(x.pval.is_known() for x in tracers) or any(x is None for x in given):
        return found
    values = _plain_p.bind(*given, **_plain_params(config, sizes, levels))
    return [*found[: len(found) - len(values)], *values]


partial_eval.custom_partial_eval_rules[_tangents_p] = _partial_eval


def _partial_eval_of_program(saveable, unknown, instantiated, eqn):
    """The same in `jax.checkpoint`, where all is done again on the way back: what is done before it (or None), what
    then, which results are unknown before, which are there then, and what must be handed over."""
    del saveable
    config, sizes, levels = (eqn.params[k] for k in ("config", "sizes", "levels"))
    fixed, everything = sum(sizes) + 2, [True] * len(eqn.outvars)
    handed = [x for x, has in zip(eqn.invars, instantiated, strict=True) if isinstance(x, Var) and not has]
    if not any(unknown):
        return eqn, eqn, [False] * len(eqn.outvars), everything, handed
    if any(unknown[:fixed]):
        return None, eqn, everything, everything, handed
    moving = len(_shapes_of_one([x.aval for x in eqn.invars[:fixed]], config, sizes, levels)[0])
    before = eqn.replace(
        primitive=_plain_p, invars=eqn.invars[:fixed], outvars=eqn.outvars[moving:],
        params=_plain_params(config, sizes, levels),
    )  # fmt: skip
    return before, eqn, [k < moving for k in range(len(eqn.outvars))], everything, handed


partial_eval.partial_eval_jaxpr_custom_rules[_tangents_p] = _partial_eval_of_program


def _transpose(cotangents, *operands, config, sizes, felt, levels):
    """Reverse mode: pull the cotangents back through a replay of the plain run."""
    fixed = sum(sizes) + 2
    moving = len(_shapes_of_one(operands[:fixed], config, sizes, levels)[0])
    ct = [jnp.zeros(c.aval.shape) if isinstance(c, ad.Zero) else c for c in cotangents[:moving]]

    def pulled(*operands):
        leaves, settings, ts, knots, ct = _split(operands, sizes)

        def run(some):
            return replayed(None, config, exchanged(leaves, felt, some), settings, ts, knots)

        _, pull, trust = jax.vjp(run, some_of(leaves, felt), has_aux=True)
        found = [pull((ct[0][k], [c[k] for c in ct[1:]]))[0] for k in range(ct[0].shape[0])]
        return [trust * jnp.stack(x) for x in zip(*found, strict=True)]

    found = _mapped(pulled, [axes[:fixed] for axes in levels], more=len(ct))(*operands[:fixed], *ct)
    for k in range(len(felt)):
        # A seed that all runs of a level share gathers what each of them says.
        shared = [n for n, axes in enumerate(reversed(levels)) if axes[fixed + k] is None]
        found[k] = jnp.sum(found[k], axis=tuple(shared))
    return [None] * fixed + found


ad.primitive_transposes[_tangents_p] = _transpose


def _no_second_order(primals, tangents, **params):
    raise NotImplementedError(
        "The adjoint `Tangents` gives first derivatives only. For second derivatives use adjoint=ForwardMode()."
    )


ad.primitive_jvps[_tangents_p] = _no_second_order
ad.primitive_jvps[_plain_p] = _no_second_order
