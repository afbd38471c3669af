"""Continuity between experiments that are segments of one motion (multiple shooting)."""

import dataclasses

import numpy as np

from .errors import StudyError


@dataclasses.dataclass(frozen=True)
class Link:
    """Where one run ends the next one begins: whitened differences of the coordinates that the next one holds."""

    earlier: object
    later: object
    columns: tuple[int, ...]  # of the watched channels
    sigmas: np.ndarray

    def residual(self, u, horizon):
        return self._rows(self.earlier.values_at(u, horizon), self.later.values_at(u, horizon), horizon)

    def linearised(self, u, horizon):
        """Differences and their Jacobian by u: each run brings the columns that it feels."""
        slopes = self.earlier.slopes_at(u, horizon), self.later.slopes_at(u, horizon)
        return self.residual(u, horizon), self._rows(*slopes, horizon)

    def _rows(self, before, after, horizon):
        columns = [self.earlier.measured.shape[1] + c for c in self.columns]
        if not self.earlier.window(horizon)[0][-1]:
            columns = []  # the end is not simulated
        gap = before[-1, columns] - after[0, columns]
        sigmas = self.sigmas[: len(columns)]
        return gap / (sigmas if gap.ndim == 1 else sigmas[:, None])


def watched(experiments):
    """Channels that continuity looks at, the same for all experiments."""
    found = {}
    for e in experiments:
        if getattr(e, "continues", None) is not None:
            found.update(dict.fromkeys(e.positions or {}))
            found.update(dict.fromkeys(f"{c}_rate" for c in e.speeds or {}))
    return tuple(found)


def links_of(experiments, runs):
    """A `Link` for every experiment that continues another one."""
    names = {e.name: k for k, e in enumerate(experiments)}
    channels, found = watched(experiments), []
    for e, run in zip(experiments, runs, strict=True):
        earlier = getattr(e, "continues", None)
        if earlier is None:
            continue
        if earlier not in names or earlier == e.name:
            raise StudyError(f"Experiment `{e.name}` continues `{earlier}`, which is not another experiment.")
        before = runs[names[earlier]]
        if abs(before.times[-1] - run.times[0]) > 1e-9 * max(1.0, abs(run.times[0])):
            raise StudyError(
                f"Experiment `{e.name}` begins at {run.times[0]:g} s, but `{earlier}`, which it continues, ends at "
                f"{before.times[-1]:g} s."
            )
        own = [(c, e.continuity[0]) for c in e.positions or {}]
        own += [(f"{c}_rate", e.continuity[1]) for c in e.speeds or {}]
        columns = tuple(channels.index(c) for c, _ in own)
        found.append(Link(before, run, columns, np.array([s for _, s in own])))
    return found
