"""Converters for fields: every physical number is a float64 array leaf, so that it can be fitted."""

import jax
import jax.numpy as jnp
import numpy as np


def _as_array(value, what):
    if isinstance(value, jax.Array):
        return value
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, got {value!r}.") from None
    return array


def number(value):
    """A scalar leaf."""
    array = _as_array(value, "A number")
    if array.shape != ():
        raise ValueError(f"Expected one number, got an array of shape {array.shape}: {value!r}.")
    return array


def vector(value):
    """A leaf of three components."""
    array = _as_array(value, "A vector")
    if array.shape != (3,):
        raise ValueError(f"Expected a vector of 3 numbers, got shape {array.shape}: {value!r}.")
    return array


def optional(convert):
    return lambda value: None if value is None else convert(value)


def array_of(*shape):
    """A leaf of the given shape; `None` stands for any length."""

    def convert(value):
        array = _as_array(value, "An array")
        fits = array.ndim == len(shape) and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
        if not fits:
            wanted = tuple("any" if s is None else s for s in shape)
            raise ValueError(f"Expected an array of shape {wanted}, got {array.shape}.")
        return array

    return convert


def is_concrete(*arrays):
    """Whether all arrays have values that can be looked at now (not under a transformation)."""
    return not any(isinstance(a, jax.core.Tracer) for a in arrays)


def namespace(*arrays):
    """NumPy where all arrays are NumPy's, else JAX: binding concrete numbers then costs no dispatch or compilation."""
    return np if all(isinstance(a, np.ndarray | np.generic) for a in arrays) else jnp


def to_numpy(tree):
    """The same tree with concrete JAX arrays as NumPy arrays; traced ones stay."""
    return jax.tree.map(lambda x: np.asarray(x) if isinstance(x, jax.Array) and is_concrete(x) else x, tree)


def stack(parts, axis=0):
    """Stack leaves in their own namespace."""
    parts = list(parts)
    return namespace(*parts).stack(parts, axis=axis)


def require_x64():
    """mbjax needs float64 (contact: K ~ 1e10 N/m^1.5 at depths ~ 1e-7 m) and never switches it on by itself."""
    if not jax.config.jax_enable_x64:
        raise RuntimeError(
            'mbjax needs 64-bit floats. Put `jax.config.update("jax_enable_x64", True)` at the top of your program, '
            "before the first array is made (mbjax does not change global settings for you)."
        )
