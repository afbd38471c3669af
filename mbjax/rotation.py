"""Rotations: Euler parameters (e0, e1, e2, e3), rotation matrices and the small vector algebra around them.

A rotation matrix `A` maps body components to global components, `s = A s'`. Angular velocity in body axes obeys
`p_dot = 1/2 p * (0, w')` (P1 section 2.1, `w' = 2 L p_dot`).
"""

import jax
import jax.numpy as jnp
import numpy as np

from .array import namespace

_NEXT = np.array([1, 2, 0])


def matrix(p):
    """Rotation matrix of Euler parameters of any norm: the result is orthonormal even where `p` has drifted."""
    p = normalise(p)
    e0, e = p[..., 0], p[..., 1:]
    outer = e[..., :, None] * e[..., None, :]
    return (2 * e0 * e0 - 1)[..., None, None] * np.eye(3) + 2 * (outer + e0[..., None, None] * skew(e))


def skew(a):
    """The matrix of the cross product: `skew(a) b = a x b`."""
    xp = namespace(a)
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = xp.zeros_like(x)
    return xp.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape((*a.shape, 3))


def cross(a, b):
    """Cross product by cyclic shifts of the components (fewer kernels to compile than `jnp.cross`)."""
    return (a * b[..., _NEXT] - a[..., _NEXT] * b)[..., _NEXT]


def rotate(a, v):
    """`A v` for stacks of matrices and vectors (written so that the compiler joins it with what surrounds it)."""
    return (a * v[..., None, :]).sum(-1)


def unrotate(a, v):
    """`A^T v` for stacks of matrices and vectors."""
    return namespace(a, v).einsum("...ji,...j->...i", a, v)


def parameter_rate(p, w_body):
    """Rate of the Euler parameters of a body that turns with `w_body` in its own axes."""
    e0, e = p[..., :1], p[..., 1:]
    scalar = -jnp.sum(e * w_body, axis=-1, keepdims=True)
    return 0.5 * jnp.concatenate([scalar, e0 * w_body + cross(e, w_body)], axis=-1)


def multiply(p, q):
    """Euler parameters of the rotation `A(p) A(q)`."""
    a, u = p[..., :1], p[..., 1:]
    b, w = q[..., :1], q[..., 1:]
    scalar = a * b - jnp.sum(u * w, axis=-1, keepdims=True)
    return jnp.concatenate([scalar, a * w + b * u + cross(u, w)], axis=-1)


def turn(p, angle_body):
    """Turn by a small rotation vector in body axes (first order, then normalised): the update of a Newton step."""
    half = jnp.concatenate([jnp.ones_like(angle_body[..., :1]), 0.5 * angle_body], axis=-1)
    return normalise(multiply(p, half))


def normalise(p):
    """The same direction with unit length."""
    xp = namespace(p)
    return p / xp.sqrt(xp.sum(p * p, axis=-1, keepdims=True))


def from_axis_angle(axis, angle):
    """Euler parameters of a turn by `angle` (rad) about `axis` (any length but zero)."""
    axis, angle = _leaf(axis), _leaf(angle)
    xp = namespace(axis, angle)
    return xp.concatenate([xp.cos(0.5 * angle)[None], xp.sin(0.5 * angle) * normalise(axis)])


def _leaf(x):
    return x if isinstance(x, jax.Array) else np.asarray(x, dtype=float)


def from_matrix(a):
    """Euler parameters of a rotation matrix, by the largest of the four squares (no division by a small number)."""
    a = _leaf(a)
    xp = namespace(a)
    m00, m11, m22 = a[0, 0], a[1, 1], a[2, 2]
    xy, xz, yz = a[0, 1] + a[1, 0], a[0, 2] + a[2, 0], a[1, 2] + a[2, 1]
    x, y, z = a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]
    rows = [
        [1 + m00 + m11 + m22, x, y, z],
        [x, 1 + m00 - m11 - m22, xy, xz],
        [y, xy, 1 - m00 + m11 - m22, yz],
        [z, xz, yz, 1 - m00 - m11 + m22],
    ]
    candidates = xp.stack([xp.stack(row) for row in rows])
    return normalise(candidates[xp.argmax(xp.diagonal(candidates))])


def axes(axis, reference):
    """Columns (h, t, b) of a right-handed frame: b along `axis`, h along the part of `reference` normal to it."""
    xp = namespace(axis, reference)
    b = normalise(axis)
    h = normalise(reference - xp.sum(reference * b, axis=-1, keepdims=True) * b)
    return xp.stack([h, cross(b, h), b], axis=-1)


def some_normal(axis):
    """The global axis that is least aligned with `axis`: a reference direction where the user gave none."""
    xp = namespace(axis)
    return xp.eye(3)[xp.argmin(xp.abs(axis))]
