import equinox as eqx
import numpy as np

from ..array import is_concrete, number
from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import Length


class MasslessLink(AbstractPerfect):
    """The two frame points keep a fixed distance, as if joined by a massless link with ball ends (P2 figure 1)."""

    length: np.ndarray = eqx.field(converter=number)  # m

    def __check_init__(self):
        if is_concrete(self.length) and not self.length > 0:
            raise ValueError(f"MasslessLink: length {float(self.length):g} m must be positive; use Spherical for zero.")

    def motions(self):
        return owns(CONSTRAINED, FREE, FREE, FREE)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return (Length("length", self.length),)
