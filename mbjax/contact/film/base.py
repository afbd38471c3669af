"""What a film law must offer."""

from abc import abstractmethod

import equinox as eqx


class AbstractFilm(eqx.Module):
    """Force of the lubricant between a journal and its bearing, in bearing frame axes."""

    @abstractmethod
    def force(self, eccentricity, velocity, spin, radius, clearance):
        """Force (3,) on the journal at eccentricity (3,) m moving with velocity (3,) m/s as seen from the bearing,
        turning with `spin` (rad/s) relative to it; `radius` of the journal and radial `clearance` in m."""

    @abstractmethod
    def slenderness(self, radius):
        """`(length over diameter, smallest, largest)`: where the law is valid."""
