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


def ramp(x, length):
    """max(x, 0) and its slope, rounded over 0 < x < length (twice differentiable; x - length / 2 beyond); sharp for
    length 0."""
    rounded = length > 0
    r = jnp.clip(x / jnp.where(rounded, length, 1.0), 0.0, 1.0)
    inside = length * r**3 * (1 - 0.5 * r)
    value = jnp.where(rounded, jnp.where(r < 1, inside, x - 0.5 * length), jnp.maximum(x, 0.0))
    slope = jnp.where(rounded, r * r * (3 - 2 * r), jnp.where(x > 0, 1.0, 0.0))
    return value, slope


def corner(x, width, past=None):
    """max(x, 0), its corner rounded over |x| < width (twice differentiable, exact beyond); sharp for width 0, and then
    `past` may say on which side of the corner to stay, whatever x is."""
    rounded = width > 0
    u = jnp.clip(x / jnp.where(rounded, width, 1.0), -1.0, 1.0)
    inside = width * (u + 1) ** 3 * (3 - u) / 16
    sharp = jnp.maximum(x, 0.0) if past is None else jnp.where(rounded & (u >= 1) | past, x, 0.0)
    return jnp.where(rounded & (u < 1), inside, sharp)


def floored(x, floor):
    """max(x, floor), its corner rounded where x is within 20 % of the floor."""
    return floor + corner(x - floor, 0.2 * floor)


def blend(x):
    """0 for x <= 0, 1 for x >= 1, 3 x^2 - 2 x^3 between."""
    r = jnp.clip(x, 0.0, 1.0)
    return r * r * (3 - 2 * r)


def power(x, exponent):
    """x^exponent for x > 0, else 0."""
    positive = x > 0
    return jnp.where(positive, jnp.where(positive, x, 1.0) ** exponent, 0.0)


def length(v, width):
    """Length of a vector times tanh(length / width): smooth at the zero vector; the length itself for width 0."""
    square, rounded = jnp.sum(v * v, axis=-1), width > 0
    return jnp.where(rounded, square * tanh_over(norm(v), jnp.where(rounded, width, 1.0)), norm(v))


def tanh_over(x, scale):
    """tanh(x / scale) / x for x >= 0, with its limit and slope at 0."""
    r = x / scale
    small = r < 1e-3
    safe = jnp.where(small, 1.0, r)
    return jnp.where(small, 1 - r * r / 3, jnp.tanh(safe) / safe) / scale


def over(value, x):
    """value / x, 0 where x is 0."""
    nonzero = x != 0
    return jnp.where(nonzero, value / jnp.where(nonzero, x, 1.0), 0.0)
