from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import no_spin, parallel, radial


class Translation(AbstractPerfect):
    """Slider: only axial motion is free. P1 (9) prints `h.t = 0`; the row here is h_j . t_i = 0 of one common frame."""

    def motions(self):
        return owns(CONSTRAINED, FREE, CONSTRAINED, CONSTRAINED)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return (*radial(), *parallel(), no_spin())
