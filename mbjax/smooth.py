"""Safe primitives: finite value, first and second derivative where the textbook form divides by zero."""

import jax.numpy as jnp


def norm(v, axis=-1):
    """Length of a vector; derivative zero (one of the subgradients) at the zero vector instead of NaN."""
    square = jnp.sum(v * v, axis=axis)
    positive = square > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)


def direction(v):
    """Unit vector of v; the zero vector stays zero."""
    length = norm(v)[..., None]
    positive = length > 0
    return jnp.where(positive, v / jnp.where(positive, length, 1.0), 0.0)


def sign(x, scale):
    """tanh(x / scale): a sign with a finite slope at zero; the sharp sign is the limit scale -> 0."""
    return jnp.tanh(x / scale)


def angle(y, x):
    """`arctan2` whose derivatives are zero, not NaN, where both arguments vanish (no direction there)."""
    nowhere = (x == 0) & (y == 0)
    return jnp.where(nowhere, 0.0, jnp.arctan2(y, jnp.where(nowhere, 1.0, x)))


def unwrap(wrapped, near):
    """The representative of an angle (modulo one turn) that lies closest to `near`."""
    return wrapped + 2 * jnp.pi * jnp.round((near - wrapped) / (2 * jnp.pi))
