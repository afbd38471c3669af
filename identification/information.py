"""What the data can tell: verdicts from the Jacobian of whitened residuals."""

import dataclasses

import numpy as np

IDENTIFIABLE, DEAD, FLAT, TRADE_OFF, NOT_PINNED, AT_BOUND = (
    "identifiable", "dead", "flat direction", "trade-off", "not pinned", "at bound",
)  # fmt: skip
GOOD = (IDENTIFIABLE,)
PINNED = 0.3  # a standard deviation, in the space of the fit, up to which a parameter counts as pinned
_FLAT = 1e-7  # of the largest singular value of the column-scaled Jacobian


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the data say about one parameter. Deviations are in the space of the fit (0.01 is about 1 %)."""

    name: str
    word: str
    alone: float  # standard deviation if all others were known
    deviation: float  # standard deviation with all others unknown
    partners: tuple[str, ...] = ()

    def __str__(self):
        if self.word == TRADE_OFF:
            with_ = " and ".join(self.partners) or "others"
            return f"trade-off with {with_} ({self.alone:.2g} alone, {self.deviation:.2g} together)"
        if self.word == FLAT:
            return f"flat direction with {' and '.join(self.partners)}"
        if self.word == DEAD:
            return "dead (the data do not depend on it)"
        if self.word == NOT_PINNED:
            return f"not pinned (+- {self.deviation:.2g} relative)"
        return f"{self.word} (+- {self.deviation:.2g} relative)"


def covariance(jacobian):
    """Covariance in the space of the fit; flat directions get infinite variance along their parameters."""
    norms = np.linalg.norm(jacobian, axis=0)
    live = norms > 0
    cov = np.full((norms.size, norms.size), np.inf)
    if live.any():
        _, values, right = np.linalg.svd(jacobian[:, live] / norms[live], full_matrices=False)
        good = values > _FLAT * values[0]
        inner = (right[good].T / values[good] ** 2) @ right[good]
        inner = inner / np.outer(norms[live], norms[live])
        lost = (np.abs(right[~good]) > 0.1).any(axis=0)
        inner[lost, :], inner[:, lost] = 0.0, 0.0
        inner[lost, lost] = np.inf
        cov[np.ix_(live, live)] = inner
    cov[~live, :], cov[:, ~live] = 0.0, 0.0
    cov[~live, ~live] = np.inf
    return cov


def verdicts(names, jacobian, at_bound, inflation=1.0):
    """One `Verdict` per parameter; `inflation` widens the deviations where the residuals are more than noise."""
    norms = np.linalg.norm(jacobian, axis=0)
    alone = np.where(norms > 0, 1 / np.where(norms > 0, norms, 1.0), np.inf)
    cov = covariance(jacobian)
    deviation = inflation * np.sqrt(np.diag(cov))
    live = norms > 0
    right, values = np.eye(len(names)), np.ones(len(names))
    if live.any():
        _, found, vectors = np.linalg.svd(jacobian[:, live] / norms[live], full_matrices=True)
        values = np.concatenate([found, np.zeros(vectors.shape[0] - found.size)])
        right = np.zeros((vectors.shape[0], len(names)))
        right[:, live] = vectors
    largest = norms.max(initial=0.0)
    given = []
    for k, name in enumerate(names):
        weak = [row for row, s in zip(right, values, strict=True) if s <= _FLAT * values[0] and abs(row[k]) > 0.1]
        if norms[k] == 0 or norms[k] < 1e-12 * largest or alone[k] > 1e3:
            word, partners = DEAD, ()
        elif weak:
            word, partners = FLAT, _partners(weak[0], k, names)
        elif at_bound[k]:
            word, partners = AT_BOUND, ()
        elif deviation[k] <= PINNED:
            word, partners = IDENTIFIABLE, ()
        elif inflation * alone[k] <= PINNED:
            row = right[np.argmax(np.abs(right[:, k]) / np.maximum(values, 1e-300))]
            word, partners = TRADE_OFF, _partners(row, k, names)
        else:
            word, partners = NOT_PINNED, ()
        given.append(Verdict(name, word, float(inflation * alone[k]), float(deviation[k]), partners))
    return tuple(given)


def _partners(row, k, names):
    order = np.argsort(-np.abs(row))
    return tuple(names[j] for j in order if j != k and abs(row[j]) > 0.2 * np.abs(row).max())
