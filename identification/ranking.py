"""Which model explains the data best? Several problems on the same data, fitted and ranked in one call."""

import dataclasses

import numpy as np

from .errors import StudyError
from .fit import fit
from .result import FitResult

CRITERIA = ("aic", "bic", "validation")


@dataclasses.dataclass(frozen=True)
class Ranked:
    """A model with its fit. `aic` and `bic` are those of the fit less the smallest of all; `validation` is the error
    on experiments that were not fitted, over the spread of their data (NaN without such)."""

    name: str
    parameters: int
    aic: float
    bic: float
    validation: float
    weight: float  # Akaike's: the model's share of the evidence
    result: FitResult


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Models, the best first."""

    criterion: str
    rows: tuple[Ranked, ...]

    @property
    def best(self):
        return self.rows[0]

    def __str__(self):
        table = [("model", "parameters", "AIC - best", "BIC - best", "weight", "validation error")]
        for r in self.rows:
            error = "-" if np.isnan(r.validation) else f"{100 * r.validation:.3g} %"
            table.append((r.name, str(r.parameters), f"{r.aic:.4g}", f"{r.bic:.4g}", f"{r.weight:.2g}", error))
        widths = [max(len(row[k]) for row in table) for k in range(6)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([*lines, f"ranked by {self.criterion}"])


def rank(problems, *, criterion=None, **how):
    """Fit every problem of a dictionary `{name: Problem}` (`how` goes to `fit`) and rank them.

    All must compare the same data. `criterion` is "aic", "bic" or "validation"; by default validation where there are
    experiments for it, else AIC.
    """
    if len(problems) < 2:
        raise StudyError("rank: give at least two problems by name.")
    digests = {name: problem.digests() for name, problem in problems.items()}
    first = next(iter(digests))
    for name, digest in digests.items():
        if digest != digests[first]:
            raise StudyError(f"rank: `{name}` and `{first}` are fitted to different data; they cannot be ranked.")
    results = {name: fit(problem, **how) for name, problem in problems.items()}
    errors = {name: _validation(result) for name, result in results.items()}
    if criterion is None:
        criterion = "aic" if any(np.isnan(e) for e in errors.values()) else "validation"
    if criterion not in CRITERIA:
        raise StudyError(f"rank: criterion `{criterion}` is unknown; choose {', '.join(CRITERIA)}.")
    aic, bic = ({n: getattr(r, c) for n, r in results.items()} for c in ("aic", "bic"))
    lowest, least = min(aic.values()), min(bic.values())
    shares = {n: np.exp(-0.5 * (a - lowest)) for n, a in aic.items()}
    rows = [
        Ranked(
            n, len(r.names), aic[n] - lowest, bic[n] - least, errors[n], float(shares[n] / sum(shares.values())), r
        )
        for n, r in results.items()
    ]  # fmt: skip
    return Ranking(criterion, tuple(sorted(rows, key=lambda row: getattr(row, criterion))))


def _validation(result):
    """Mean over the channels of validation of RMS error over spread of the data."""
    missed = [1 - c["fit_percent"] / 100 for c in result.channels if c["role"] == "validation"]
    return float(np.mean(missed)) if missed else float("nan")
