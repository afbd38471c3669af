import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import smooth
from ..joint.base import FREE, MOTIONS, AbstractRealisation
from ..joint.mixed import Mixed
from ..law import AbstractLaw, Effect, powers
from ..rotation import cross
from .base import AbstractBranch
from .matrix import check_passive, matrix, six


def deflections(displacement, turn):
    """Displacement of the journal (3,) and its rotation vector (3,) in bearing axes; below half a turn.

    The rotation vector is exact for large turns about any axis, so forces derived from it store energy consistently.
    """
    skew = 0.5 * jnp.stack([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine, cosine = smooth.norm(skew), 0.5 * (jnp.trace(turn) - 1)
    square = jnp.dot(skew, skew)
    small = square < 1e-6
    exact = jnp.arctan2(sine, cosine) / jnp.where(small, 1.0, sine)
    series = 1 + square * (1 / 6 + square * (3 / 40 + square * 15 / 336))  # asin(s) / s
    return jnp.concatenate([displacement, skew * jnp.where(small & (cosine > 0), series, exact)])


class Bushing(AbstractRealisation):
    """Elastic joint: -(K u + C u_dot + preload) on the six deflections of the journal, plus branches beside it.

    `stiffness` and `damping` are full 6 by 6 matrices (or six diagonal entries) in bearing frame axes, displacements
    h, t, b then rotations h, t, b; coupling is off the diagonal. `branches` add nonlinear curves, frequency dependence
    (`Maxwell`) and amplitude dependence (`BoucWen`). `preload` acts at zero deflection. `holds` names the relative
    motions this bushing owns; leave one out to have it constrained in a `Mixed` joint.
    """

    stiffness: np.ndarray = eqx.field(converter=matrix)  # (6, 6)
    damping: np.ndarray = eqx.field(converter=matrix, default_factory=lambda: np.zeros(6))  # (6, 6)
    preload: np.ndarray = eqx.field(converter=six, default_factory=lambda: np.zeros(6))  # (6,) N, N m
    branches: tuple[AbstractBranch, ...] = eqx.field(converter=tuple, default=())
    holds: tuple[str, ...] = eqx.field(static=True, converter=tuple, default=MOTIONS)

    def __check_init__(self):
        check_passive("Bushing", "stiffness", self.stiffness)
        check_passive("Bushing", "damping", self.damping)
        for branch in self.branches:
            if not isinstance(branch, AbstractBranch):
                raise ValueError(f"Bushing: {branch!r} under `branches` is not a branch such as Maxwell or BoucWen.")
        for motion in self.holds:
            if motion not in MOTIONS:
                raise ValueError(f"Bushing: `{motion}` is not a relative motion. Motions: {', '.join(MOTIONS)}.")

    def motions(self):
        return {m: "bushing" if m in self.holds else FREE for m in MOTIONS}

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return ()

    def perfect(self):
        return Mixed(self.holds, ())

    def laws(self):
        return (_Rubber(self.stiffness, self.damping, self.preload, self.branches),)


class _Rubber(AbstractLaw):
    stiffness: jax.Array
    damping: jax.Array
    preload: jax.Array
    branches: tuple
    points: int = eqx.field(static=True, init=False, default=0)

    @property
    def internal(self):
        return sum(b.internal for b in self.branches)

    def point_names(self):
        return ()

    def measure(self, relative):
        return jnp.zeros(0), jnp.zeros(0)

    def returns(self):
        return np.zeros(0, dtype=bool)

    def jumps(self):
        return False

    def silent(self):
        return False

    def tolerance(self):
        return jnp.zeros(0)

    def respond(self, u, u_rate, internal):
        """Force against the deflections (6,), stored energy, dissipated power, rates of internal states."""
        elastic = 0.5 * (self.stiffness + self.stiffness.T) @ u
        drag = self.damping @ u_rate
        force = elastic + drag + self.preload
        stored = 0.5 * jnp.dot(u, elastic) + jnp.dot(u, self.preload)
        dissipated = jnp.dot(drag, u_rate)
        rates, start = [], 0
        for branch in self.branches:
            answer = branch.act(u, u_rate, internal[start : start + branch.internal])
            start += branch.internal
            force, stored, dissipated = force + answer.force, stored + answer.stored, dissipated + answer.dissipated
            rates.append(answer.rate)
        return force, stored, dissipated, jnp.concatenate(rates) if rates else jnp.zeros(0)

    def act(self, relative, points, internal, t):
        del points, t
        turn_rate = jnp.swapaxes(cross(relative.angular[None, :], relative.rotation.T), -1, -2)
        u, u_rate = jax.jvp(deflections, (relative.displacement, relative.rotation), (relative.velocity, turn_rate))
        against, stored, dissipated, rate = self.respond(u, u_rate, internal)
        _, pull = jax.vjp(deflections, relative.displacement, relative.rotation)
        force, on_turn = pull(-against)
        moment = jnp.sum(cross(relative.rotation.T, on_turn.T), axis=0)
        return Effect(
            force,
            -cross(relative.displacement, force) - moment,
            moment,
            stored,
            powers(bushing=dissipated),
            rate,
            jnp.zeros(0),
        )

    def at_switch(self, internal, flipped):
        del flipped
        return internal

    def motions(self):
        return MOTIONS
