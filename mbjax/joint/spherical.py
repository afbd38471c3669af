from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import coincident


class Spherical(AbstractPerfect):
    """Ball joint: the two points coincide, rotation is free."""

    def motions(self):
        return owns(CONSTRAINED, CONSTRAINED, FREE, FREE)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return coincident()
