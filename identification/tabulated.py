"""What tests have in common whose rows are not moments of a motion."""

import numpy as np

from .experiment import Compared


class Tabulated:
    """A test with `measured_by_channel` (arrays by name, NaN is missing), `measured` (rows by channels) and `sigma`."""

    @property
    def compared(self):
        return tuple(Compared(c, c, self.sigma.get(c, "estimate")) for c in self.measured_by_channel)

    @property
    def times(self):
        """Rows are not times: all lie at 0, inside every horizon."""
        return np.zeros(len(self.measured))

    @property
    def remarks(self):
        missing = {c: int((~np.isfinite(v)).sum()) for c, v in self.measured_by_channel.items()}
        return tuple(f"`{c}`: {n} values are missing and will not be compared" for c, n in missing.items() if n)
