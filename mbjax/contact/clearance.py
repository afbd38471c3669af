import warnings

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..errors import ModelWarning
from ..joint.base import AbstractRealisation
from ..law import AbstractLaw, by_layer, layered
from .interface import AbstractInterface
from .pair import AbstractPair
from .pair.base import contact, measure


class Clearance(AbstractRealisation):
    """A joint with play: the two surfaces of `pair` with `interface` between them.

    `highest_speed` (m/s) is the largest impact speed the laws are meant for, say a material's `highest_impact_speed`:
    a simulation warns when a touch was faster.
    """

    pair: AbstractPair
    interface: AbstractInterface
    highest_speed: float | None = eqx.field(static=True, default=None, metadata={"unit": "m/s"})

    def __check_init__(self):
        for field, kind in (("pair", AbstractPair), ("interface", AbstractInterface)):
            value = getattr(self, field)
            if not isinstance(value, kind):
                raise ValueError(f"Clearance: {field} is {value!r}; expected a {field} such as {_EXAMPLES[field]}.")

        if self.highest_speed is not None and not self.highest_speed > 0:
            raise ValueError(f"Clearance: highest_speed {self.highest_speed:g} m/s must be positive.")
        for remark in self.interface.remarks(self.pair):
            warnings.warn(remark, ModelWarning, stacklevel=3)

    def motions(self):
        return self.pair.motions()

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return self.pair.rows()

    def perfect(self):
        return self.pair.ideal()

    def laws(self):
        return (_Play(self.pair, self.interface, np.inf if self.highest_speed is None else self.highest_speed),)


_EXAMPLES = {
    "pair": "CircleInCircle(radius=0.01, clearance=0.5e-3)",
    "interface": "Dry(Impact(Hertz(1e10), LankaraniNikravesh(0.9)))",
}


class _Play(AbstractLaw):
    pair: AbstractPair
    interface: AbstractInterface
    limit: float = eqx.field(static=True)

    @property
    def points(self):
        return self.interface.layers * self.pair.points

    @property
    def internal(self):
        return self.interface.bristles * self.pair.points

    def point_names(self):
        return layered(self.pair.point_names(), self.interface.layers)

    def measure(self, relative):
        depth, rate = measure(self.pair, relative)
        depths = depth[None, :] - self.interface.offsets()[:, None]
        return depths.reshape(-1), jnp.broadcast_to(rate, depths.shape).reshape(-1)

    def corner_speeds(self):
        return self.interface.corner_speeds()

    def slips(self, relative):
        return jnp.tile(contact(self.pair, relative).slip, (self.interface.layers, 1))

    def cornered(self):
        # Friction acts with the first layer.
        return np.arange(self.points) < self.pair.points

    def highest_speed(self):
        return self.limit

    def returns(self):
        return np.full(self.points, self.interface.returns)

    def jumps(self):
        return self.interface.jumps

    def silent(self):
        return self.interface.silent

    def tolerance(self):
        return jnp.broadcast_to(self.pair.tolerance(), (self.interface.layers, self.pair.points)).reshape(-1)

    def act(self, relative, points, internal, t):
        del t
        memory = by_layer(points, self.interface.layers, self.pair.points)
        effect = self.interface.act(self.pair, relative, memory, internal.reshape(self.pair.points, -1))
        normal = jnp.tile(effect.normal, self.interface.layers)
        return eqx.tree_at(lambda e: (e.internal_rate, e.normal), effect, (effect.internal_rate.reshape(-1), normal))

    def at_switch(self, internal, flipped):
        if not self.internal:
            return internal
        bristles = internal.reshape(self.pair.points, -1)
        started = flipped.reshape(self.interface.layers, self.pair.points)[0]
        return jnp.where(started[:, None], 0.0, bristles).reshape(-1)

    def motions(self):
        return tuple(k for k, owner in self.pair.motions().items() if owner == "contact")
