import equinox as eqx
import numpy as np

from ..array import is_concrete, vector
from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import Dot, coincident


class Universal(AbstractPerfect):
    """Cardan joint: points coincide and the two cross axes stay at right angles.

    Both cross axes are given (global, at t0); they decide which twist the joint passes on. `spin` counts as
    constrained, `tilt` as free.
    """

    bearing_cross: np.ndarray = eqx.field(converter=vector)  # cross axis fixed to the bearing
    journal_cross: np.ndarray = eqx.field(converter=vector)  # cross axis fixed to the journal

    def __check_init__(self):
        if is_concrete(self.bearing_cross, self.journal_cross):
            u, w = np.asarray(self.bearing_cross), np.asarray(self.journal_cross)
            lengths = np.linalg.norm(u) * np.linalg.norm(w)
            if not lengths > 0 or abs(u @ w) > 1e-6 * lengths:
                raise ValueError(
                    f"Universal: the cross axes {u.tolist()} (bearing) and {w.tolist()} (journal) must be at right "
                    "angles at t0."
                )

    def motions(self):
        return owns(CONSTRAINED, CONSTRAINED, FREE, CONSTRAINED)

    def rows(self, bearing_axes, journal_axes):
        u = bearing_axes.T @ self.bearing_cross
        w = journal_axes.T @ self.journal_cross
        return (*coincident(), Dot("cross axes", u, w))
