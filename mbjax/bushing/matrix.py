"""Six by six matrices of bushings, in the order h, t, b (displacements), h, t, b (rotations)."""

import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete


def matrix(value):
    """A (6, 6) leaf; six numbers stand for a diagonal."""
    array = value if isinstance(value, jax.Array) else np.asarray(value, dtype=np.float64)
    if array.shape == (6,):
        return jnp.diag(array) if isinstance(array, jax.Array) else np.diag(array)
    if array.shape != (6, 6):
        raise ValueError(f"Expected a 6 by 6 matrix or its 6 diagonal entries, got shape {array.shape}.")
    return array


def six(value):
    """A (6,) leaf."""
    array = value if isinstance(value, jax.Array) else np.asarray(value, dtype=np.float64)
    if array.shape != (6,):
        raise ValueError(f"Expected 6 numbers (h, t, b displacements, then rotations), got shape {array.shape}.")
    return array


def check_passive(part, name, value):
    """Refuse a matrix whose symmetric part would create energy."""
    if is_concrete(value):
        smallest = np.linalg.eigvalsh(0.5 * (np.asarray(value) + np.asarray(value).T)).min()
        if smallest < -1e-9 * max(np.abs(value).max(), 1.0):
            raise ValueError(f"{part}: {name} has the negative eigenvalue {smallest:g}; it would create energy.")
