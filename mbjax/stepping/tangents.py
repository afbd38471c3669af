"""Tangents of a run, many at once and side by side (`lanes`): what they begin with, and how they are pushed along the
recorded steps of the plain run. `jointly` integrates them with the state instead.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import lanes
from . import loop
from .replay import replay_steps


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


def exchanged(leaves, felt, some):
    known = dict(zip(felt, some, strict=True))
    return [known.get(k, x) for k, x in enumerate(leaves)]


class Start:
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


def leading(rows_dot, moment_dot):
    """Tangents of the outputs and of the log, along the first axis."""
    return [jnp.moveaxis(x, -1, 0) for x in jax.tree.leaves((rows_dot, moment_dot.log))]


def along_steps(config, felt, leaves, settings, ts, knots, steps, count, seed):
    """Tangents of the outputs, inexact parts of memory and log, by one seed of the leaves at the places `felt`; a batch
    of seeds goes side by side, and further derivatives go through `replay_steps`."""

    def replay(leaves, settings, ts, knots, steps, count, seed):
        def run(some):
            full = config.open(exchanged(leaves, felt, some), settings)
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
    at = Start(config, leaves, settings, ts, felt, seeds)

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
    return leading(rows_dot, moment_dot)
