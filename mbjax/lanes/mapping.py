"""Entry points: a function of one lane in, the same of many lanes out."""

import jax
import jax.numpy as jnp
from jax import lax

from .interpreter import IDLE, Interpreter
from .operations import wide


def side_by_side(function, lanes, *args):
    """`function` of every lane: `(outputs, laned)`. All leaves of `args` have lanes last; `laned` tells of each output
    whether it has, or is shared by all lanes."""
    flat, tree = jax.tree.flatten(args)
    one = [jax.ShapeDtypeStruct(jnp.shape(x)[:-1], jnp.result_type(x)) for x in flat]
    program, shapes = jax.make_jaxpr(lambda *x: function(*jax.tree.unflatten(tree, x)), return_shape=True)(*one)
    outs, laned = Interpreter(lanes).closed(program, flat, [True] * len(flat))
    back = jax.tree.structure(shapes)
    return jax.tree.unflatten(back, outs), jax.tree.unflatten(back, laned)


def mapped(function, lanes, *args):
    """`function` of every lane, all outputs with lanes last."""
    outs, laned = side_by_side(function, lanes, *args)
    return jax.tree.map(lambda x, has: wide(x, has, lanes), outs, laned)


def while_loop(unfinished, body, carry):
    """`lax.while_loop` for a body that changes nothing once `unfinished` is false: lanes that are done then need no
    protection from it, which would cost a copy of everything that is carried in every round."""

    def run(carry):
        return lax.while_loop(unfinished, body, carry)

    run.__name__ = IDLE
    return jax.jit(run)(carry)
