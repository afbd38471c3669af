from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import parallel, radial


class Cylindrical(AbstractPerfect):
    """Pin that may slide and turn in its hole: axial and spin are free (P1 7)."""

    def motions(self):
        return owns(CONSTRAINED, FREE, CONSTRAINED, FREE)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return (*radial(), *parallel())
