"""One recording and how it is compared with the mechanism."""

import dataclasses

import numpy as np

from .errors import DataError
from .recording import Recording


@dataclasses.dataclass(frozen=True)
class Compared:
    """A channel of the mechanism and the column measured for it: value in SI = factor x column + offset.

    `sigma` is the standard deviation of the noise in SI, or "estimate" (taken from the residuals of the fit).
    """

    channel: str
    column: str
    sigma: float | str = "estimate"
    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self):
        if self.sigma != "estimate" and not (isinstance(self.sigma, int | float) and self.sigma > 0):
            raise DataError(f"Channel `{self.channel}`: sigma {self.sigma!r} must be positive, or `estimate`.")


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A recording, what is compared, and how the mechanism starts.

    The run starts at the first time of the recording (plus `time_offset`), from the mechanism's own initial state with
    joint coordinates `positions` and `speeds` where given. `mechanism` replaces the study's one for this experiment
    (other inputs, loads or drives; the same parts).
    """

    name: str
    recording: Recording
    compared: tuple[Compared, ...]
    positions: dict | None = None
    speeds: dict | None = None
    time_offset: float = 0.0
    mechanism: object = None
    validation: bool = False

    def __post_init__(self):
        object.__setattr__(self, "compared", tuple(self.compared))
        if not self.compared:
            raise DataError(f"Experiment `{self.name}`: nothing is compared; give at least one channel.")

    @property
    def digest(self):
        return self.recording.digest

    @property
    def remarks(self):
        return self.recording.remarks

    @property
    def times(self):
        return self.recording.times + self.time_offset

    @property
    def measured(self):
        """Values in SI (times, channels); NaN where missing."""
        return np.stack([c.factor * self.recording.column(c.column) + c.offset for c in self.compared], axis=-1)
