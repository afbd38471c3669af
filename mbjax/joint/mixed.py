import equinox as eqx

from .base import CONSTRAINED, FREE, MOTIONS, AbstractRealisation
from .rows import axial, no_spin, parallel, radial

_ROWS = {"radial": radial, "axial": lambda: (axial(),), "tilt": parallel, "spin": lambda: (no_spin(),)}


class Mixed(AbstractRealisation):
    """Some motions constrained, others given to other realisations (P1 51-53): each motion has one owner.

    `Mixed(("axial", "tilt"), [Clearance(BallInSocket(...), ...)])` would claim the axial motion twice and is refused;
    a `Bushing(..., holds=("radial",))` beside constrained axial and tilt motion is a bushing that only gives radially.
    With no parts this is the perfect joint of any set of motions.
    """

    constrained: tuple[str, ...] = eqx.field(static=True, converter=tuple, default=())
    parts: tuple[AbstractRealisation, ...] = eqx.field(converter=tuple, default=())

    def __check_init__(self):
        for motion in self.constrained:
            if motion not in MOTIONS:
                raise ValueError(f"Mixed: `{motion}` is not a relative motion. Motions: {', '.join(MOTIONS)}.")
        owners = {m: "the constraints" for m in self.constrained}
        for part in self.parts:
            if not isinstance(part, AbstractRealisation):
                raise ValueError(f"Mixed: {part!r} under `parts` is not a realisation.")
            for motion, owner in part.motions().items():
                if owner == FREE:
                    continue
                if motion in owners:
                    raise ValueError(
                        f"Mixed: {motion} motion is owned by {owners[motion]} and by {type(part).__name__}; each "
                        "motion has one owner."
                    )
                owners[motion] = type(part).__name__

    def motions(self):
        found = {m: CONSTRAINED if m in self.constrained else FREE for m in MOTIONS}
        for part in self.parts:
            found |= {m: owner for m, owner in part.motions().items() if owner != FREE}
        return found

    def rows(self, bearing_axes, journal_axes):
        own = [row for m in MOTIONS if m in self.constrained for row in _ROWS[m]()]
        return (*own, *(row for part in self.parts for row in part.rows(bearing_axes, journal_axes)))

    def laws(self):
        return tuple(law for part in self.parts for law in part.laws())

    def perfect(self):
        return Mixed(tuple(m for m, owner in self.motions().items() if owner != FREE), ())
