"""Compilation of the library's own entry points."""

import functools
import gc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .array import is_concrete

# XLA's newer code generator for processors compiles programs of many small operations, as ours are, half as fast as
# the older one and runs them no faster (measured with jaxlib 0.10.2: 4.5 -> 2.5 s for the slider-crank, 9.9 -> 5.1 s
# for the planar one with clearance, run times equal within 4 %).
_OPTIONS = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_experimental_ynn_fusion_type": ""}


def compiled(function):
    """`equinox.filter_jit` with the compiler's options that suit multibody programs. Inside another transformation it
    is `filter_jit` alone: options belong to the outermost compilation. Numbers that are arguments are traced, as
    `jax.jit` does it: another value is no other program."""

    @functools.wraps(function)
    def traced(*args, **kwargs):
        _Programs.traced += 1
        return function(*args, **kwargs)

    plain, quick = eqx.filter_jit(traced), eqx.filter_jit(traced, compiler_options=_OPTIONS)

    @functools.wraps(function)
    def call(*args, **kwargs):
        args, kwargs = [_traceable(x) for x in args], {k: _traceable(x) for k, x in kwargs.items()}
        if not _outermost(args, kwargs):
            return plain(*args, **kwargs)
        if _Programs.traced > _Programs.seen:
            make_room()
        return (quick if _known() else plain)(*args, **kwargs)

    return call


def _traceable(x):
    return np.asarray(x) if isinstance(x, float | complex) else x


class _Programs:
    """How often a function was traced, in all and at the last look at the process' memory maps."""

    traced = seen = 0


def make_room(share=0.5):
    """Forget all compiled programs (they are compiled again when needed) once their memory maps are more than this
    share of what Linux grants a process. XLA takes about 600 of 65530 for one run with contact, and ends the process
    with a segmentation fault when there are none left. True if programs were forgotten."""
    _Programs.seen = _Programs.traced
    try:
        with open("/proc/self/maps", "rb") as maps, open("/proc/sys/vm/max_map_count") as limit:
            crowded = sum(1 for _ in maps) > share * int(limit.read())
    except OSError:  # no Linux, no such limit
        return False
    if crowded:
        jax.clear_caches()
        gc.collect()
    return crowded


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
