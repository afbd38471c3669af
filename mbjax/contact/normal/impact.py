import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import is_concrete, number
from ...law import OPEN
from .base import AbstractNormal, Press
from .elastic import AbstractElastic
from .hysteresis import AbstractHysteresis, NoHysteresis
from .policy import AbstractRatio, AbstractTension, Cut, Symmetric


class Impact(AbstractNormal):
    """Continuous contact force: F = elastic(d) [1 + chi rate / speed at touch] (P1 43-44, P2 25, P3 11, P5 9).

    Any elastic part with any hysteresis factor; `ratio` and `tension` say what the papers leave open. `smoothing` > 0
    rounds the onset over that depth (twice differentiable in the depth); 0 is the paper's law.
    """

    elastic: AbstractElastic
    hysteresis: AbstractHysteresis = eqx.field(default_factory=NoHysteresis)
    ratio: AbstractRatio = eqx.field(default_factory=Symmetric)
    tension: AbstractTension = eqx.field(default_factory=Cut)
    smoothing: np.ndarray = eqx.field(converter=number, default=0.0, metadata={"unit": "Q"})  # m
    layers: int = eqx.field(static=True, init=False, default=1)
    returns: bool = eqx.field(static=True, init=False, default=False)
    jumps: bool = eqx.field(static=True, init=False, default=False)

    def __check_init__(self):
        if is_concrete(self.smoothing) and self.smoothing < 0:
            raise ValueError(f"Impact: smoothing {float(self.smoothing):g} must not be negative.")

    def offsets(self):
        return jnp.zeros(1)

    def press(self, depth, rate, points):
        mode, inverse_speed = points.mode[0], points.inverse_speed[0]
        deep, slope = smooth.ramp(depth, self.smoothing)
        elastic = self.elastic.force(deep) * slope
        ratio = self.ratio.limit(rate, inverse_speed)
        force = self.tension.limit(elastic * (1 + self.hysteresis.factor() * ratio))
        closed = mode != OPEN
        return Press(
            jnp.where(closed, force, 0.0),
            jnp.where(closed, elastic, 0.0),
            jnp.where(closed, self.elastic.energy(deep), 0.0),
        )
