from .base import CONSTRAINED, FREE, AbstractPerfect, owns
from .rows import axial, parallel


class Planar(AbstractPerfect):
    """Plane on plane: the journal slides and spins in the plane normal to the bearing's axis."""

    def motions(self):
        return owns(FREE, CONSTRAINED, CONSTRAINED, FREE)

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return (axial(), *parallel())
