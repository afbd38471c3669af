"""Compilation of the library's own entry points."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp

from .array import is_concrete

# XLA's newer code generator for processors compiles programs of many small operations, as ours are, half as fast as
# the older one and runs them no faster (measured with jaxlib 0.10.2: 4.5 -> 2.5 s for the slider-crank, 9.9 -> 5.1 s
# for the planar one with clearance, run times equal within 4 %).
_OPTIONS = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_experimental_ynn_fusion_type": ""}


def compiled(function):
    """`equinox.filter_jit` with the compiler's options that suit multibody programs. Inside another transformation it
    is `filter_jit` alone: options belong to the outermost compilation."""
    plain, quick = eqx.filter_jit(function), eqx.filter_jit(function, compiler_options=_OPTIONS)

    @functools.wraps(function)
    def call(*args, **kwargs):
        return (quick if _outermost(args, kwargs) and _known() else plain)(*args, **kwargs)

    return call


def _outermost(args, kwargs):
    """Whether no transformation is under way: then everything given has a value, and so has a new array."""
    return is_concrete(jnp.zeros(()), *jax.tree.leaves((args, kwargs)))


@functools.cache
def _known():
    """Whether we run on processors with a compiler that knows the options."""
    if jax.default_backend() != "cpu":
        return False
    try:
        jax.jit(lambda x: x, compiler_options=_OPTIONS).lower(0.0).compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
