"""How connections are drawn: by the motions they leave open, and where surfaces have play, by their pair."""

import jax
import numpy as np

from ..contact.pair import (
    AbstractPair,
    BallInSocket,
    BallOnPlane,
    CircleInCircle,
    CylinderInCylinder,
    JournalInBearing,
    SliderInGuide,
)
from ..joint import CONSTRAINED, FREE

# A pair that is not listed is drawn as a ring; nothing else depends on this table.
PAIRS = {
    CircleInCircle: "ring",
    BallInSocket: "socket",
    CylinderInCylinder: "sleeve",
    JournalInBearing: "sleeve",
    SliderInGuide: "guide",
    BallOnPlane: "plane",
}
# Motions (radial, axial, tilt, spin) that a perfect joint constrains.
PERFECT = {
    (True, True, True, False): "hinge",
    (True, False, True, False): "cylinder",
    (True, False, True, True): "slide",
    (True, True, False, False): "ball",
    (True, True, False, True): "cross",
    (True, False, False, False): "link",
    (True, True, True, True): "weld",
    (False, False, False, False): "free",
}
_SIZES = ("radius", "clearance", "length", "height")


def drawn_as(realisation):
    """Kind of drawing, sizes of the surfaces (m), and which of radial, axial, tilt are small enough to be magnified."""
    motions = realisation.motions()
    pairs = [p for p in jax.tree.leaves(realisation, is_leaf=_is_pair) if _is_pair(p)]
    small = [motions[m] not in (FREE, CONSTRAINED) for m in ("radial", "axial", "tilt")]
    if pairs:
        kind = PAIRS.get(type(pairs[0]), "ring")
        fields = pairs[0].__dataclass_fields__
        sizes = {name: float(np.asarray(getattr(pairs[0], name))) for name in _SIZES if name in fields}
        return kind, sizes, small if kind != "plane" else [False] * 3  # a ball in flight is far away
    if any(small):
        return "bushing", {}, small
    held = tuple(motions[m] == CONSTRAINED for m in ("radial", "axial", "tilt", "spin"))
    return PERFECT.get(held, "other"), {}, small


def _is_pair(node):
    return isinstance(node, AbstractPair)


def slides(kind):
    """Whether the journal travels along the axis between rails."""
    return kind in ("slide", "guide")
