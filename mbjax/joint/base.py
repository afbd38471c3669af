"""What a realisation of a connection must say: who owns each relative motion, and which constraint rows it writes."""

from abc import abstractmethod

import equinox as eqx

MOTIONS = ("radial", "axial", "tilt", "spin")
CONSTRAINED, FREE = "constrained", "free"


class AbstractRealisation(eqx.Module):
    """How the two bodies of a connection meet: each of {radial, axial, tilt, spin} is owned exactly once."""

    @abstractmethod
    def motions(self):
        """`{"radial": owner, "axial": owner, "tilt": owner, "spin": owner}` with owner `constrained`, `free`, or the
        word for a law."""

    @abstractmethod
    def rows(self, bearing_axes, journal_axes):
        """Constraint rows (see `rows.py`). `*_axes` are the frame axes (columns h, t, b) at t0 in global axes."""

    @abstractmethod
    def laws(self):
        """Force laws (see `mbjax.law`) that act between the two sides; none for a perfect joint."""

    @abstractmethod
    def perfect(self):
        """The realisation without imperfections."""


class AbstractPerfect(AbstractRealisation):
    """A realisation that only writes constraint rows."""

    def laws(self):
        return ()

    def perfect(self):
        return self


def owns(radial=FREE, axial=FREE, tilt=FREE, spin=FREE):
    return {"radial": radial, "axial": axial, "tilt": tilt, "spin": spin}
