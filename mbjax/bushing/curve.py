import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import smooth
from ..element.characteristic import AbstractCharacteristic
from .base import AbstractBranch, Answer

DEFLECTIONS = ("h", "t", "b", "turn_h", "turn_t", "turn_b")


class Curve(AbstractBranch):
    """Nonlinear force over one deflection: h, t, b (m), turn_h, turn_t, turn_b (rad); or `radial`, over the length of
    (h, t) and along it."""

    deflection: str = eqx.field(static=True)
    characteristic: AbstractCharacteristic
    internal: int = eqx.field(static=True, init=False, default=0)

    def __check_init__(self):
        if self.deflection not in (*DEFLECTIONS, "radial"):
            raise ValueError(
                f"Curve: `{self.deflection}` is not a deflection. Known: {', '.join((*DEFLECTIONS, 'radial'))}."
            )

    def act(self, u, u_rate, state):
        if self.deflection == "radial":
            along = smooth.direction(u[:2])
            value, rate = smooth.norm(u[:2]), jnp.dot(along, u_rate[:2])
            row = jnp.concatenate([along, np.zeros(4)])
        else:
            k = DEFLECTIONS.index(self.deflection)
            value, rate, row = u[k], u_rate[k], np.eye(6)[k]
        x = value - self.characteristic.rest
        damping = self.characteristic.damping(x, rate)
        force = self.characteristic.elastic(x) + damping
        return Answer(force * row, self.characteristic.energy(x), damping * rate, state)
