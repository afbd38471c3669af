import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number, optional
from ..kinematics import coordinate_and_rate, coordinate_gradient
from ..law import AbstractLaw, Effect, by_layer, layered, powers
from ..rotation import cross
from ..smooth import unwrap
from .normal import AbstractNormal


class Stop(eqx.Module):
    """Limits of a joint coordinate (P1 section 2.5): beyond `lower` or `upper`, `normal` pushes back along it.

    Hard stops are impacts, soft ones (bump stops) a `DampedLayer` or `Staged`. For `spin` and `tilt` the law's depth is
    an angle and its force a moment; spin is counted over full turns.
    """

    coordinate: str = eqx.field(static=True)
    normal: AbstractNormal
    lower: np.ndarray | None = eqx.field(converter=optional(number), default=None, metadata={"unit": "Q"})  # m or rad
    upper: np.ndarray | None = eqx.field(converter=optional(number), default=None, metadata={"unit": "Q"})  # m or rad

    def __check_init__(self):
        if not isinstance(self.normal, AbstractNormal):
            raise ValueError(f"Stop: normal is {self.normal!r}; expected a normal law such as Impact(Hertz(1e5)).")
        if self.lower is None and self.upper is None:
            raise ValueError("Stop: give `lower`, `upper` or both.")
        both = self.lower is not None and self.upper is not None
        if both and is_concrete(self.lower, self.upper) and not self.lower < self.upper:
            raise ValueError(f"Stop: lower {float(self.lower):g} must lie below upper {float(self.upper):g}.")

    def law(self):
        limits = [(sign, x) for sign, x in ((-1.0, self.lower), (1.0, self.upper)) if x is not None]
        return _Limits(self.coordinate, tuple(s for s, _ in limits), tuple(x for _, x in limits), self.normal)


class _Limits(AbstractLaw):
    coordinate: str = eqx.field(static=True)
    signs: tuple[float, ...] = eqx.field(static=True)
    limits: tuple[np.ndarray, ...]
    normal: AbstractNormal

    @property
    def points(self):
        return self.normal.layers * len(self.signs)

    @property
    def internal(self):
        return 0

    def point_names(self):
        sides = [f"{self.coordinate} {'lower' if s < 0 else 'upper'} stop" for s in self.signs]
        return layered(sides, self.normal.layers)

    def _depth(self, relative):
        """Depth and rate at every limit, and the sign of each."""
        value, rate = coordinate_and_rate(self.coordinate, relative)
        if self.coordinate == "spin":
            value = unwrap(value, jax.lax.stop_gradient(relative.wound))
        signs = np.array(self.signs)
        return signs * (value - jnp.stack([jnp.asarray(x) for x in self.limits])), signs * rate, signs

    def measure(self, relative):
        depth, rate, _ = self._depth(relative)
        depths = depth[None, :] - self.normal.offsets()[:, None]
        return depths.reshape(-1), jnp.broadcast_to(rate, depths.shape).reshape(-1)

    def returns(self):
        return np.full(self.points, self.normal.returns)

    def jumps(self):
        return self.normal.jumps

    def silent(self):
        return True

    def tolerance(self):
        scale = 1.0 if len(self.limits) < 2 else jnp.abs(self.limits[1] - self.limits[0])
        return jnp.full(self.points, 1e-9 * scale)

    def act(self, relative, points, internal, t):
        del t
        depth, rate, signs = self._depth(relative)
        memory = by_layer(points, self.normal.layers, len(self.signs))
        press = self.normal.press(depth, rate, memory)
        force, moment = coordinate_gradient(self.coordinate, relative)
        push = -jnp.sum(signs * press.force)
        force, moment = push * force, push * moment
        return Effect(
            force,
            -cross(relative.displacement, force) - moment,
            moment,
            jnp.sum(press.stored),
            powers(contact=jnp.sum((press.force - press.elastic) * rate)),
            internal,
            jnp.tile(press.force, self.normal.layers),
        )

    def at_switch(self, internal, flipped):
        del flipped
        return internal

    def motions(self):
        return (self.coordinate.split("_")[0],)
