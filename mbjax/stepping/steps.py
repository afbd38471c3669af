"""Step size control: tolerances per kind of coordinate, and the error norm."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete, number, optional
from .flow import sizes


class Adaptive(eqx.Module):
    """Steps chosen so that the local error of every kind of coordinate stays below rtol x its size + its atol.

    The size of a kind is its largest entry over all bodies (one radian for orientations and planar angles, so that
    turning on does not loosen the tolerance). The norm is the maximum over bodies and kinds: entries that have no
    error do not dilute those that have. Counted energies and memory never take part. `max_step` is physics (the
    shortest thing that must not be stepped over), not a tuning knob.
    """

    rtol: np.ndarray = eqx.field(converter=number, default=1e-6)
    position: np.ndarray = eqx.field(converter=number, default=1e-3)  # m; this and the next four multiply rtol
    angle: np.ndarray = eqx.field(converter=number, default=1.0)  # rad
    speed: np.ndarray = eqx.field(converter=number, default=1e-3)  # m/s
    angular_speed: np.ndarray = eqx.field(converter=number, default=1e-2)  # rad/s
    internal: np.ndarray = eqx.field(converter=number, default=1e-6)  # m or rad; bristles and branches
    max_step: np.ndarray | None = eqx.field(converter=optional(number), default=None)  # s
    first_step: np.ndarray | None = eqx.field(converter=optional(number), default=None)  # s

    def __check_init__(self):
        if is_concrete(self.rtol) and not 1e-14 <= self.rtol < 1:
            raise ValueError(f"Adaptive: rtol {float(self.rtol):g} must lie between 1e-14 and 1.")
        for label in ("max_step", "first_step"):
            step = getattr(self, label)
            if step is not None and is_concrete(step) and not step > 0:
                raise ValueError(f"Adaptive: {label} {float(step):g} s must be positive.")


class Fixed(eqx.Module):
    """Equal steps of about `step` seconds (shortened so that outputs are landed on); no error control."""

    step: np.ndarray = eqx.field(converter=number)  # s

    def __check_init__(self):
        if is_concrete(self.step) and not self.step > 0:
            raise ValueError(f"Fixed: step {float(self.step):g} s must be positive.")


class ErrorNorm:
    """Largest error over kinds, relative to tolerance."""

    def __init__(self, structure, steps):
        nq, nv, ni, _ = sizes(structure)
        n, k = structure.spatial, structure.planar
        plane = np.tile([0, 0, 1], k)
        kinds = np.concatenate(
            [np.zeros(3 * n), np.ones(4 * n), plane, np.full(3 * n, 2), np.full(3 * n, 3), 2 + plane, np.full(ni, 4)]
        )
        self.members = kinds[None, :] == np.arange(5)[:, None]
        self.count = nq + nv + ni
        # An error e of Euler parameters is a turn by 2 e.
        self.weight = np.ones(self.count)
        self.weight[3 * n : 7 * n] = 2.0
        self.steps = steps

    def size(self, y):
        """Largest entry of each kind (5,)."""
        return jnp.max(jnp.where(self.members, jnp.abs(self.weight * y[..., None, : self.count]), 0.0), axis=-1)

    def tolerance(self, y0, y1):
        """Allowed error of each kind (5,)."""
        s = self.steps
        base = jnp.stack([jnp.asarray(x) for x in (s.position, s.angle, s.speed, s.angular_speed, s.internal)])
        return s.rtol * (base + jnp.maximum(self.size(y0), self.size(y1)) * np.array([1.0, 0.0, 1.0, 1.0, 1.0]))

    def __call__(self, error, y0, y1):
        """Error over tolerance of the motion."""
        return jnp.max(self.size(error) / self.tolerance(y0, y1))

    def of_tangents(self, error, s0, s1, y0, y1, seeds):
        """Error over tolerance of tangents (n, p); `seeds` (p,) are the relative parameter changes they stand for."""
        allowed = self.tolerance(y0, y1)[None, :] * seeds[:, None]
        allowed = allowed + self.steps.rtol * jnp.maximum(self.size(s0.T), self.size(s1.T))
        return jnp.max(self.size(error.T) / jnp.where(allowed > 0, allowed, 1.0), initial=0.0)
