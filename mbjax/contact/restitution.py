"""What a normal law really does: its restitution, and the parameter that gives the restitution one has measured."""

import equinox as eqx
import jax
import jax.numpy as jnp

from ..array import is_concrete
from ..compilation import compiled
from ..law import CLOSED, RETURNING, Points
from .normal import Impact
from .normal.elastic import Hertz

_STEPS, _LENGTH = 6000, 6.0


def effective_restitution(law, speed=1.0, mass=1.0):
    """Speed after over speed before when `mass` (kg) hits a wall at `speed` (m/s) under a normal law of one layer.

    LN's "e" is not the e you get. Without active policies, laws of the form elastic x (1 + chi rate / speed) do not
    depend on mass, stiffness or speed. Differentiable; accurate to about 1e-8. NaN where the mass does not come back.
    """
    if law.layers != 1:
        raise ValueError("effective_restitution: the law has several layers; give it the one that is hit.")
    if is_concrete(jnp.asarray(speed), jnp.asarray(mass)) and not (speed > 0 and mass > 0):
        raise ValueError("effective_restitution: speed and mass must be positive.")
    speed, mass = jnp.asarray(speed, dtype=float), jnp.asarray(mass, dtype=float)
    return _effective(jax.tree.map(jnp.asarray, law), speed, mass)


@compiled
def _effective(law, speed, mass):
    def press(depth, rate, mode):
        memory = Points(*(x[None, None] for x in (jnp.asarray(mode), 1 / speed, depth, depth, speed)))
        return jax.tree.map(lambda x: x[0], law.press(depth[None], rate[None], memory))

    def halve(bounds, _):
        low, high = bounds
        middle = 0.5 * (low + high)
        stored = press(jnp.exp(middle), jnp.zeros(()), CLOSED).stored
        enough = stored > 0.5 * mass * speed**2
        return (jnp.where(enough, low, middle), jnp.where(enough, middle, high)), None

    bounds = (jnp.log(jnp.array(1e-14)), jnp.log(jnp.array(1e2)))
    (low, _), _ = jax.lax.scan(halve, bounds, None, length=60)
    scale = jax.lax.stop_gradient(jnp.exp(low))

    # Along the arc in the plane of depth and rate, made dimensionless: slow returns need no more steps than fast ones.
    def slope(x):
        depth, rate = x[0] * scale, x[1] * speed
        mode = jnp.where(rate < 0, RETURNING, CLOSED)
        direction = jnp.stack([rate / scale, -press(depth, rate, mode).force / (mass * speed)])
        return direction / jnp.sqrt(jnp.sum(direction * direction) + 1e-30)

    h = _LENGTH / _STEPS

    def step(x, _):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        done = (x[0] <= 0) & (x[1] < 0)
        return jnp.where(done, x, x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)), None

    x, _ = jax.lax.scan(step, jnp.array([0.0, 1.0]), None, length=_STEPS)
    back = slope(jnp.stack([jnp.zeros(()), x[1]]))
    out = -(x[1] - x[0] * back[1] / jnp.where(back[0] != 0, back[0], 1.0))
    return jnp.where((x[0] <= 0) & (x[1] < 0), out, jnp.nan)


def restitution_parameter(law, measured, speed=1.0, mass=1.0):
    """The value of the law's `restitution` at which its effective restitution is `measured`, by bisection.

    Raises where the law cannot give that restitution at all.
    """
    place = (lambda x: x.hysteresis.restitution) if isinstance(law, Impact) else (lambda x: x.restitution)
    measured = float(measured)

    def effective(e):
        value = float(effective_restitution(eqx.tree_at(place, law, jnp.asarray(e)), speed, mass))
        return value if value == value else 0.0

    low, high = 1e-6, 1.0
    ends = effective(low), effective(high)
    if not ends[0] <= measured <= ends[1] + 1e-9:
        raise ValueError(
            f"restitution_parameter: this law gives restitutions from {ends[0]:.4f} to {ends[1]:.4f}, not "
            f"{measured:g}. Take another hysteresis factor (Flores covers the whole range)."
        )
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) < measured else (low, middle)
    return 0.5 * (low + high)


def equivalent_hertz(elastic, force_range, exponent=1.5):
    """The Hertz law K d^n closest to another elastic law (least squares in depth over a range of forces, N).

    P2 uses it to put a cylinder's stiffness (26, 27) into the Lankarani-Nikravesh law (25).
    """
    low, high = (float(x) for x in force_range)
    if not 0 < low < high:
        raise ValueError(f"equivalent_hertz: the range of forces must be increasing and positive, got {force_range}.")
    elastic = jax.tree.map(jnp.asarray, elastic)
    forces = jnp.linspace(low, high, 200)

    def halve(bounds, _):
        a, b = bounds
        middle = 0.5 * (a + b)
        found = elastic.force(jnp.exp(middle))
        enough = ~(found < forces)  # NaN counts as enough: beyond the end of the law
        return (jnp.where(enough, a, middle), jnp.where(enough, middle, b)), None

    bounds = (jnp.full(200, jnp.log(1e-14)), jnp.full(200, jnp.log(1.0)))
    (a, b), _ = jax.lax.scan(halve, bounds, None, length=60)
    depths = jnp.exp(0.5 * (a + b))
    root = forces ** (1 / exponent)
    # depths = K^(-1/n) forces^(1/n)
    return Hertz((jnp.dot(root, root) / jnp.dot(root, depths)) ** exponent, exponent)
