from .base import CONSTRAINED, AbstractPerfect, owns
from .rows import coincident, no_spin, parallel


class Rigid(AbstractPerfect):
    """Weld: nothing moves (P1 10)."""

    def motions(self):
        return owns(CONSTRAINED, CONSTRAINED, CONSTRAINED, CONSTRAINED)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return (*coincident(), *parallel(), no_spin())
