"""Recordings of which only features are compared: impact times, RMS, spectra, energy lost per cycle."""

import dataclasses
import hashlib

import numpy as np

from .errors import DataError
from .experiment import Compared
from .measure import AbstractMeasure


@dataclasses.dataclass(frozen=True)
class Feature:
    """A measure and what it was in the recording: one value (SI) per label of the measure; NaN is missing.

    `sigma` is the standard deviation of the noise in SI, or "estimate".
    """

    measure: AbstractMeasure
    values: np.ndarray
    sigma: float | str = "estimate"

    def __post_init__(self):
        values = np.atleast_1d(np.asarray(self.values, dtype=float))
        object.__setattr__(self, "values", values)
        labels = self.measure.labels()
        if values.shape != (len(labels),):
            raise DataError(f"Feature `{labels[0]}`: {values.size} values were given for {len(labels)} numbers.")

    @property
    def name(self):
        label = self.measure.labels()[0]
        return label if self.values.size == 1 else f"{label} ..."


@dataclasses.dataclass(frozen=True)
class FeatureTest:
    """A motion of which features are compared, not samples: what is left to compare beyond the horizon of chaos.

    `ts` are the output times (s) of the simulation that the measures look at; measures of contacts do not need them
    fine. Start, mechanism and validation are those of `Experiment`.
    """

    name: str
    ts: np.ndarray
    features: tuple[Feature, ...]
    positions: dict | None = None
    speeds: dict | None = None
    mechanism: object = None
    validation: bool = False

    def __post_init__(self):
        object.__setattr__(self, "ts", np.asarray(self.ts, dtype=float))
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise DataError(f"Feature test `{self.name}`: nothing is compared; give at least one feature.")

    @property
    def compared(self):
        return tuple(Compared(f.name, f.name, f.sigma) for f in self.features)

    @property
    def measured(self):
        """One column per feature, filled up with NaN."""
        rows = max(f.values.size for f in self.features)
        return np.stack([np.append(f.values, np.full(rows - f.values.size, np.nan)) for f in self.features], axis=-1)

    @property
    def times(self):
        """Rows are not times: all lie at 0, inside every horizon."""
        return np.zeros(len(self.measured))

    @property
    def digest(self):
        return hashlib.sha256(self.ts.tobytes() + self.measured.tobytes()).hexdigest()

    @property
    def remarks(self):
        return ()
