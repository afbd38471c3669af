"""How derivatives go through a simulation.

- `Tangents` (default): state and sensitivities are integrated together, and both are in the error norm, under
  the same tolerance. Reverse-mode requests (`jax.grad`) are answered by `Replay`.
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

from . import loop
from .jointly import integrated
from .replay import replayed
from .tangents import along_steps, configure, some_of


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
        return _along_steps(method, model, y0, memory, ts, knots)


class Replay(AbstractAdjoint):
    """Reverse mode by recording the accepted steps and replaying them; `checkpoints` trades memory for time."""

    checkpoints: int | None = eqx.field(static=True, default=None)

    def run(self, method, model, y0, memory, ts, knots):
        config, leaves, settings = configure(method, model, y0, memory)

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


def _rates(method, model, ts, outputs, kept):
    """dy/dt at the outputs."""
    return jax.vmap(lambda t, y, memory: method.flow(t, y, (model, memory)))(ts, outputs, kept)


def _with_tangents(method, model, y0, memory, ts, knots):
    """`integrate` whose tangents are integrated with the state; where they are asked for, so is the value."""
    config, leaves, settings = configure(method, model, y0, memory)

    @jax.custom_jvp
    def run(leaves, settings, ts, knots):
        outputs, kept, progress, _ = loop.integrate(*config.open(leaves, settings), ts, knots)
        return outputs, kept, progress

    @functools.partial(run.defjvp, symbolic_zeros=True)
    def _(primals, tangents):
        def push(felt, seeds):
            return integrated(config, felt, *primals, seeds)

        return _pushed(config, primals, tangents, lambda: run(*primals), push)

    return _anew(run(leaves, settings, ts, jax.lax.stop_gradient(knots)))


def _along_steps(method, model, y0, memory, ts, knots):
    """`integrate` whose tangents are those of its own steps."""
    config, leaves, settings = configure(method, model, y0, memory)

    @jax.custom_jvp
    def run(leaves, settings, ts, knots):
        outputs, kept, progress, steps = loop.integrate(*config.open(leaves, settings), ts, knots, record=True)
        return outputs, kept, progress, steps

    @functools.partial(run.defjvp, symbolic_zeros=True)
    def _(primals, tangents):
        *found, steps = run(*primals)
        steps = jax.lax.stop_gradient(steps)

        def push(felt, seeds):
            return along_steps(config, felt, *primals, steps, found[2].accepted, seeds), found

        found, dots = _pushed(config, primals, tangents, lambda: found, push)
        return (*found, steps), (*dots, jnp.zeros_like(steps))

    *found, _ = run(leaves, settings, ts, jax.lax.stop_gradient(knots))
    return _anew(tuple(found))


def _pushed(config, primals, tangents, plain, push):
    """A run's outputs and their tangents; `plain` gives the outputs alone, `push` the tangents by the leaves that have
    some, and outputs to go with them."""
    leaves, settings, ts, _ = primals
    leaves_dot, _, ts_dot, _ = tangents
    seeds = {k: d for k, d in enumerate(leaves_dot) if not isinstance(d, SymbolicZero)}
    moving_times = not isinstance(ts_dot, SymbolicZero)
    if moving_times:
        # Shifting the start moves the whole run; later outputs slide along the flow.
        outputs, kept, _ = plain()
        method, model, *_ = config.open(leaves, settings)
        rates = _rates(method, model, ts, outputs, kept[0])
        where_y0 = config.index_of_y0()
        seeds[where_y0] = seeds.get(where_y0, 0.0) - rates[0] * ts_dot[0]
    felt = tuple(sorted(seeds))
    (outputs_dot, *kept_dot), (outputs, kept, progress) = push(felt, some_of(seeds, felt))
    if moving_times:
        outputs_dot = outputs_dot + rates * ts_dot[:, None]
    kept_dot = iter(kept_dot)
    kept_dot = jax.tree.map(lambda x: next(kept_dot) if eqx.is_inexact_array(x) else _zero(x), kept)
    return (outputs, kept, progress), (outputs_dot, kept_dot, jax.tree.map(_zero, progress))


def _anew(found):
    """Empty arrays are made anew: JAX (0.10) returns one axis too many where only tangents of an output are batched."""
    return jax.tree.map(lambda x: x if x.size else jnp.zeros(x.shape, x.dtype), found)


def _zero(x):
    return jnp.zeros_like(x) if jnp.issubdtype(x.dtype, jnp.inexact) else np.zeros(x.shape, jax.dtypes.float0)
