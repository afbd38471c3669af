from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import coincident, parallel


class Revolute(AbstractPerfect):
    """Hinge: points coincide and axes are parallel; only spin is free (P1 8). Between planar bodies, the rows that
    their plane already fulfils fall away at assembly."""

    def motions(self):
        return owns(CONSTRAINED, CONSTRAINED, CONSTRAINED, FREE)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return (*coincident(), *parallel())
