"""The state inside a step, from the motion at its ends."""

import jax
import jax.numpy as jnp

from ..rotation import multiply
from ..state import Rates, flatten, position_rate, positions
from .flow import sizes, unpack


def between(structure, start, end, h, x, extra=0.0):
    """The flat state at the fraction `x` of a step of length `h`; `start` and `end` are (y, dy/dt) at its ends.

    Positions are the quintic through positions, velocities and accelerations, velocities its derivative (off by h^6 and
    h^5; by one order less with the `extra` of `bulge`); internal states are the cubic through values and rates.
    """
    (y0, f0), (y1, f1) = start, end
    nq, nv, *_ = sizes(structure)
    q0, q1, s0, s1 = y0[:nq], y1[:nq], h * f0[:nq], h * f1[:nq]
    c0, c1 = (0.5 * h * h * _second_rate(structure, *ends) for ends in (start, end))
    rest = q1 - q0 - s0 - c0
    slope = s1 - s0 - 2 * c0
    bend = c1 - c0
    a3, a4, a5 = 10 * rest - 4 * slope + bend, 7 * slope - 15 * rest - 2 * bend, 6 * rest - 3 * slope + bend
    q = q0 + x * (s0 + x * (c0 + x * (a3 + x * (a4 + x * a5))))
    rate = s0 + x * (2 * c0 + x * (3 * a3 + x * (4 * a4 + x * 5 * a5)))
    u = x * (1 - x)
    q, rate = q + extra * u**3, (rate + extra * 3 * u**2 * (1 - 2 * x)) / h
    v = _rates(positions(structure, q), positions(structure, rate))
    z0, z1, r0, r1 = y0[nq + nv :], y1[nq + nv :], h * f0[nq + nv :], h * f1[nq + nv :]
    z = z0 + x * (r0 + x * (3 * (z1 - z0) - 2 * r0 - r1 + x * (2 * (z0 - z1) + r0 + r1)))
    return jnp.concatenate([q, flatten(positions(structure, q), v)[1], z])


def bulge(structure, start, end, h, flow):
    """What the quintic lacks of the accelerations in the middle of the step: `extra` x^3 (1 - x)^3 is added to it.
    `flow` is dy/dt as a function of the state there."""
    middle = between(structure, start, end, h, 0.5)
    slopes = end[1] - start[1]
    nq = sizes(structure)[0]
    c0, c1 = (h * h * _second_rate(structure, *ends) for ends in (start, end))
    # Second derivative of the quintic at 1/2.
    curvature = 1.5 * h * slopes[:nq] - 0.25 * (c0 + c1)
    return (curvature - h * h * _second_rate(structure, middle, flow(middle))) / 0.375


def _second_rate(structure, y, f):
    """d^2/dt^2 of the positions."""
    nq, nv, *_ = sizes(structure)

    def rate(y):
        q, v = unpack(structure, y)
        return flatten(position_rate(q, v), v)[0]

    return jax.jvp(rate, (y[: nq + nv],), (f[: nq + nv],))[1]


def _rates(q, rate):
    """Velocities of positions that change at `rate`: the inverse of `position_rate`."""
    backwards = q.orientation * jnp.array([1.0, -1.0, -1.0, -1.0])
    square = jnp.sum(q.orientation**2, axis=-1, keepdims=True)
    return Rates(rate.position, 2 * multiply(backwards, rate.orientation)[..., 1:] / square, rate.planar)
