import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number
from .base import AbstractBranch, Answer
from .matrix import matrix


class Maxwell(AbstractBranch):
    """Spring and dashpot in series: force K e with e_dot = u_dot - e / relaxation_time. Stiffens with frequency:
    K* = K i w T / (1 + i w T)."""

    stiffness: np.ndarray = eqx.field(converter=matrix)  # (6, 6) N/m, N m/rad
    relaxation_time: np.ndarray = eqx.field(converter=number, metadata={"unit": "s"})  # s
    internal: int = eqx.field(static=True, init=False, default=6)

    def __check_init__(self):
        if is_concrete(self.relaxation_time) and not self.relaxation_time > 0:
            raise ValueError(f"Maxwell: relaxation_time {float(self.relaxation_time):g} s must be positive.")

    def act(self, u, u_rate, state):
        del u
        force = self.stiffness @ state
        flow = state / self.relaxation_time
        return Answer(force, 0.5 * jnp.dot(state, force), jnp.dot(force, flow), u_rate - flow)
