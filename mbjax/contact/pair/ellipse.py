"""The point of a tilted circle that is nearest to, or farthest from, an axis."""

import jax
import jax.numpy as jnp
import numpy as np

from ... import smooth

_SAMPLES, _ROUNDS = 16, 4
_ANGLES = 2 * np.pi * np.arange(_SAMPLES) / _SAMPLES


def extreme_angle(centre, first, second, guess, sign):
    """Angle at which |centre + cos(angle) first + sin(angle) second| is smallest (sign 1) or largest (sign -1).

    Vectors (points, 2) are seen along the axis; `first` and `second` are the circle's half axes; `guess` (points, 2)
    is the direction of the extreme for a circle that is not tilted. The best of that and of 16 samples, and the best
    that is far from it, start Newton's method on the angle: the distance has two minima on a tilted circle, and Newton
    alone may climb. The last two rounds carry derivatives, so that value, first and second derivative are those of
    the implicit function.
    """

    def point(angle):
        return centre + jnp.cos(angle)[..., None] * first + jnp.sin(angle)[..., None] * second

    def newton(angle, centre, first, second):
        c, s = jnp.cos(angle)[..., None], jnp.sin(angle)[..., None]
        radial, tangent = c * first + s * second, c * second - s * first
        slope = jnp.sum((centre + radial) * tangent, axis=-1)
        curvature = jnp.sum(tangent * tangent - (centre + radial) * radial, axis=-1)
        # Towards the wanted extreme, whatever the curvature; no step is longer than half the sampling.
        step = jnp.where(sign * curvature > 0, smooth.over(slope, curvature), 0.0)
        return angle - jnp.clip(step, -0.2, 0.2)

    start = smooth.angle(jnp.sum(guess * second, axis=-1), jnp.sum(guess * first, axis=-1))
    angles = jnp.concatenate([start[None], jnp.broadcast_to(_ANGLES[:, None], (_SAMPLES, start.shape[0]))])
    distances = sign * jnp.sum(jax.vmap(point)(angles) ** 2, axis=-1)
    # The guess wins ties: it moves smoothly.
    better = distances[1:] < distances[0] * (1 - sign * 1e-12)
    best = jnp.where(
        jnp.any(better, axis=0),
        jnp.take_along_axis(angles, 1 + jnp.argmin(distances[1:], axis=0)[None], axis=0)[0],
        start,
    )
    # The other extreme of a tilted circle lies more than a quarter turn away, and only at the end is it known which of
    # the two is the one: samples may mistake one for the other where they are about alike.
    away = jnp.cos(angles[1:] - best) < 0.1
    other = jnp.take_along_axis(angles, 1 + jnp.argmin(jnp.where(away, distances[1:], jnp.inf), axis=0)[None], axis=0)
    frozen = jax.lax.stop_gradient((centre, first, second))
    both = jax.lax.stop_gradient(jnp.concatenate([best[None], other]))
    both, _ = jax.lax.scan(lambda a, _: (newton(a, *frozen), None), both, None, length=_ROUNDS)
    distances = jax.lax.stop_gradient(sign * jnp.sum(jax.vmap(point)(both) ** 2, axis=-1))
    angle = jnp.where(distances[1] < distances[0] * (1 - sign * 1e-12), both[1], both[0])
    for _ in range(2):
        angle = newton(angle, centre, first, second)
    return angle
