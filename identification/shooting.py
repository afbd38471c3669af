"""Multiple shooting: a long recording as segments whose starts are unknowns, tied to the ends before them."""

import dataclasses
import itertools

import numpy as np

from .errors import StudyError
from .parameter import Parameter
from .recording import Recording


def shooting(experiment, coordinates, segments, *, continuity=(1e-6, 1e-4), smoothing=5):
    """`(experiments, parameters)`: the experiment cut into segments, and the unknown starts of all but the first.

    - `coordinates`: joint coordinates that hold the mechanism's start, as many as it has degrees of freedom; each must
      be compared with a column (its channel is the coordinate), which gives the first guess of position and speed: a
      straight line through `smoothing` samples before and after the cut.
    - `segments`: how many, or the times (s) of the cuts.
    - `continuity`: how far a start may be from the end before it (m or rad, m/s or rad/s). Looser values make the first
      steps of a fit easier; tighter ones make the result that of one motion.

    A cut should lie in free flight: a contact that lasts over it begins anew, with another speed at touch. Each segment
    is differentiated by its own start and the shared parameters only.
    """
    times = experiment.times
    cuts = np.linspace(times[0], times[-1], segments + 1)[1:-1] if isinstance(segments, int) else np.asarray(segments)
    places = [0, *(int(np.argmin(np.abs(times - t))) for t in cuts), len(times) - 1]
    if np.any(np.diff(places) < 2 * smoothing):
        raise StudyError(f"shooting: `{experiment.name}` has too few samples for these segments.")
    columns = {c.channel: k for k, c in enumerate(experiment.compared)}
    for c in coordinates:
        if c not in columns:
            raise StudyError(f"shooting: `{c}` is not compared with a column, so its start cannot be guessed.")
    measured = experiment.measured
    parts, parameters = [], []
    for k, (a, b) in enumerate(itertools.pairwise(places)):
        name = f"{experiment.name}, segment {k + 1}"
        positions, speeds = dict(experiment.positions or {}), dict(experiment.speeds or {})
        if k:
            rows = slice(a - smoothing, a + smoothing + 1)
            for c in coordinates:
                speeds[c], positions[c] = _line(times[rows] - times[a], measured[rows, columns[c]])
                size = max(np.nanstd(measured[:, columns[c]]), 1e-12)
                steps = (size, size / (times[b] - times[a]))
                for kind, held, step in (("positions", positions, steps[0]), ("speeds", speeds, steps[1])):
                    value = held[c]
                    parameters.append(
                        Parameter(
                            f"{kind[:-1]} of {c}, segment {k + 1}", f"start.{kind}.{c}", value, value - 5 * step,
                            value + 5 * step, experiments=(name,), step=step,
                        )
                    )  # fmt: skip
        else:
            missing = [c for c in coordinates if c not in positions or c not in speeds]
            if missing:
                raise StudyError(
                    f"shooting: give `{experiment.name}` positions and speeds for {', '.join(missing)}: all segments "
                    "are held at their start in the same way."
                )
        recording = experiment.recording
        cut = Recording(
            recording.times[a : b + 1], {n: x[a : b + 1] for n, x in recording.columns.items()}, recording.source
        )
        follows = {"continues": f"{experiment.name}, segment {k}", "continuity": continuity} if k else {}
        parts.append(
            dataclasses.replace(experiment, name=name, recording=cut, positions=positions, speeds=speeds, **follows)
        )
    return parts, parameters


def _line(t, x):
    good = np.isfinite(x)
    if good.sum() < 2:
        raise StudyError("shooting: no samples around a cut; choose another one.")
    return tuple(float(v) for v in np.polyfit(t[good], x[good], 1))
