from .base import AbstractPerfect, owns


class Free(AbstractPerfect):
    """No constraint at all: a frame pair to measure relative motion at, or to hang springs and stops on."""

    def motions(self):
        return owns()

    def rows(self, bearing_axes, journal_axes):
        del bearing_axes, journal_axes
        return ()
