"""Predictions at many points, simulated in one batch before they are asked for one by one."""

import jax
import numpy as np


class Ahead:
    """Answers by what was asked, u and horizon."""

    def __init__(self):
        self.known = {}

    def keep(self, what, us, horizon, found):
        """Remember answers that have one more axis, the points, first."""
        found = jax.tree.map(np.asarray, found)
        for k, u in enumerate(us):
            self.known[what, u.tobytes(), horizon] = jax.tree.map(lambda rows, k=k: rows[k], found)

    def get(self, what, u, horizon):
        """The answer, or None."""
        return self.known.get((what, np.asarray(u).tobytes(), horizon))
