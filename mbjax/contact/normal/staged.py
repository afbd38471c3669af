from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...array import is_concrete, number
from .base import AbstractNormal, Press
from .elastic import check_positive

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


class AbstractBlend(eqx.Module):
    """How one law fades into another: the share of the second over x = 0 .. 1."""

    @abstractmethod
    def share(self, x):
        """0 for x <= 0, 1 for x >= 1."""


class Weighted(AbstractBlend):
    """Straight line (P1 50; Flores et al. 2008)."""

    def share(self, x):
        return jnp.clip(x, 0.0, 1.0)


class Exponential(AbstractBlend):
    """1 / (1 + exp(1/x - 1/(1-x))): all derivatives continuous (after Tandl and Kecskemethy 2006)."""

    def share(self, x):
        inside = (x > 1e-3) & (x < 1 - 1e-3)
        r = jnp.where(inside, x, 0.5)
        return jnp.where(inside, jax.nn.sigmoid(1 / (1 - r) - 1 / r), jnp.where(x > 0.5, 1.0, 0.0))


class Staged(AbstractNormal):
    """Clearance, then a bushing layer, then hard contact (P1 50).

    The layer is `soft`; at depth `thickness` (delta_b - delta_c) `hard` begins, with its own mode and speed at touch,
    and takes over within `blend_range` (epsilon).
    """

    soft: AbstractNormal
    hard: AbstractNormal
    thickness: np.ndarray = eqx.field(converter=number, metadata={"unit": "Q"})  # m
    blend_range: np.ndarray = eqx.field(converter=number, metadata={"unit": "Q"})  # m
    blend: AbstractBlend = eqx.field(default_factory=Weighted)
    layers: int = eqx.field(static=True, init=False, default=2)
    returns: bool = eqx.field(static=True, init=False, default=False)

    def __check_init__(self):
        check_positive(self, "thickness", "blend_range")
        for name in ("soft", "hard"):
            law = getattr(self, name)
            if law.layers != 1 or law.returns:
                raise ValueError(
                    f"Staged: `{name}` is a {type(law).__name__}; only laws of one layer that do not tell loading from "
                    "unloading can be staged (for P2 21 take SmoothRestitutionSpring)."
                )
        if is_concrete(self.thickness, self.blend_range) and self.blend_range > 10 * self.thickness:
            raise ValueError("Staged: blend_range is more than ten times the thickness; give it in metres.")

    @property
    def jumps(self):
        return self.soft.jumps or self.hard.jumps

    def offsets(self):
        return jnp.stack([jnp.zeros(()), jnp.asarray(self.thickness)])

    def press(self, depth, rate, points):
        first = jax.tree.map(lambda x: x[:1], points)
        second = jax.tree.map(lambda x: x[1:], points)
        beyond = depth - self.thickness
        soft = self.soft.press(depth, rate, first)
        hard = self.hard.press(beyond, rate, second)
        w = self.blend.share(beyond / self.blend_range)
        mixed = [(1 - w) * a + w * b for a, b in ((soft.force, hard.force), (soft.elastic, hard.elastic))]
        return Press(*mixed, self._stored(depth, beyond, soft, hard, first, second))

    def _stored(self, depth, beyond, soft, hard, first, second):
        """Soft energy up to the hard layer, the blend by quadrature, hard energy beyond."""
        x = jnp.clip(beyond, 0.0, self.blend_range)

        def elastic(node):
            d = 0.5 * (node + 1) * x
            w = self.blend.share(d / self.blend_range)
            a = self.soft.press(d + self.thickness, jnp.zeros_like(d), first).elastic
            return (1 - w) * a + w * self.hard.press(d, jnp.zeros_like(d), second).elastic

        area = 0.5 * x * jnp.tensordot(jnp.asarray(_WEIGHTS), jax.vmap(elastic)(jnp.asarray(_NODES)), 1)
        edge = jnp.broadcast_to(self.blend_range, depth.shape)
        start = self.soft.press(jnp.minimum(depth, self.thickness), jnp.zeros_like(depth), first).stored
        over = hard.stored - self.hard.press(jnp.minimum(edge, beyond), jnp.zeros_like(depth), second).stored
        return jnp.where(beyond > 0, start + area + jnp.where(beyond > edge, over, 0.0), soft.stored)
