"""One recording and how it is compared with the mechanism."""

import dataclasses

import numpy as np

import mbjax as mb

from .errors import DataError, StudyError
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
class Input:
    """A signal of the mechanism, `part.field` such as `shoulder.torque`, that follows a measured column:
    value in SI = factor x column + offset."""

    path: str
    column: str
    factor: float = 1.0
    offset: float = 0.0
    interpolation: str = "linear"


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A recording, what is compared, and how the mechanism starts.

    The run starts at the first time of the recording (plus `time_offset`), from the mechanism's own initial state with
    joint coordinates `positions` and `speeds` where given. `mechanism` replaces the study's one for this experiment
    (other loads or drives; the same parts); `inputs` are signals that follow columns of the recording.

    With `continues` it goes on where the experiment of that name ends: what its `positions` and `speeds` hold at the
    start must be what the other one has at its end, up to the deviations `continuity` (m or rad, m/s or rad/s); see
    `shooting`.

    Experiments whose mechanisms and inputs differ in numbers only are simulated together, in one compilation.
    """

    name: str
    recording: Recording
    compared: tuple[Compared, ...]
    positions: dict | None = None
    speeds: dict | None = None
    time_offset: float = 0.0
    mechanism: object = None
    validation: bool = False
    inputs: tuple[Input, ...] = ()
    continues: str | None = None
    continuity: tuple[float, float] = (1e-6, 1e-4)

    def __post_init__(self):
        object.__setattr__(self, "compared", tuple(self.compared))
        object.__setattr__(self, "inputs", tuple(self.inputs))
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

    def prepared(self, mechanism, room=0):
        """The mechanism of this experiment, with its measured inputs as tables of at least `room` entries."""
        mechanism = mechanism if self.mechanism is None else self.mechanism
        for given in self.inputs:
            name, _, field = given.path.partition(".")
            try:
                part = mechanism[name]
            except KeyError as error:
                raise StudyError(f"Experiment `{self.name}`: input `{given.path}`: {error.args[0]}") from None
            signals = [f.name for f in dataclasses.fields(part) if _is_signal(getattr(part, f.name))]
            if field not in signals:
                known = ", ".join(f"{name}.{f}" for f in signals) or f"`{name}` has no signal"
                raise StudyError(f"Experiment `{self.name}`: input `{given.path}` is not a signal. Known: {known}.")
            values = given.factor * self.recording.column(given.column) + given.offset
            good = np.isfinite(values)
            if good.sum() < 2:
                raise DataError(f"Experiment `{self.name}`: input column `{given.column}` has no samples.")
            more = room if given.interpolation == "linear" else 0  # a spline's end depends on what follows
            table = mb.signal.Table(*_padded(self.times[good], values[good], more), given.interpolation)
            mechanism = mechanism.replace(name, dataclasses.replace(part, **{field: table}))
        return mechanism


def _padded(times, values, room):
    """More entries after the end, where nothing is simulated: tables of one length share a compilation."""
    more = max(room - times.size, 0)
    later = times[-1] + (times[-1] - times[-2]) * np.arange(1, more + 1)
    return np.concatenate([times, later]), np.concatenate([values, np.full(more, values[-1])])


def _is_signal(value):
    return isinstance(value, mb.signal.base.AbstractSignal)
