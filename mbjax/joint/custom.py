from collections.abc import Callable

import equinox as eqx
import numpy as np

from ..array import array_of
from . import rows as primitives
from .base import MOTIONS, AbstractPerfect


class CustomRows(AbstractPerfect):
    """Constraint rows of the user, added to those of an ordinary realisation.

    `function(displacement, rotation, t, values)` returns as many residuals as there are `labels`; displacement (m)
    and rotation (3x3) are those of the journal relative to the bearing, in bearing frame axes. `owned` names the
    motions these rows take over from `base`.
    """

    base: AbstractPerfect
    labels: tuple[str, ...] = eqx.field(static=True, converter=tuple)
    function: Callable = eqx.field(static=True)
    values: np.ndarray = eqx.field(converter=array_of(None), default_factory=lambda: np.zeros(0))
    owned: tuple[str, ...] = eqx.field(static=True, converter=tuple, default=())

    def __check_init__(self):
        for motion in self.owned:
            if motion not in MOTIONS:
                raise ValueError(f"CustomRows: `{motion}` is not a relative motion. Motions: {', '.join(MOTIONS)}.")
            if self.base.motions()[motion] != "free":
                raise ValueError(
                    f"CustomRows: {motion} motion is already {self.base.motions()[motion]} by "
                    f"{type(self.base).__name__}; each motion has one owner."
                )

    def motions(self):
        return {m: "custom" if m in self.owned else owner for m, owner in self.base.motions().items()}

    def rows(self, bearing_axes, journal_axes):
        own = primitives.Custom(self.labels, self.function, self.values)
        return (*self.base.rows(bearing_axes, journal_axes), own)
