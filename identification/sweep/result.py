import dataclasses
import json
import pathlib

import numpy as np

from mbjax.files import Atomic

from ..errors import StudyError
from .samples import Samples


@dataclasses.dataclass(frozen=True)
class SweepResult:
    """One row per variant: its numbers, its measures (NaN where it failed), and why it failed.

    `result["rms slider.acceleration.x"]` is one measure (variants,); `result.on_grid(name)` has the shape of the grid.
    """

    samples: Samples
    labels: tuple[str, ...]
    measures: np.ndarray  # (variants, labels)
    code: np.ndarray  # (variants,) 0 is success
    reason: np.ndarray  # (variants,) text, empty for success
    time: np.ndarray  # (variants,) s, last time reached
    steps: np.ndarray  # (variants,)
    channels: tuple[str, ...] = ()
    ts: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))
    motions: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0, 0)))  # (variants, times, channels)

    @staticmethod
    def of(samples, labels, channels, ts, arrays):
        """From the arrays of chunks laid end to end."""
        return SweepResult(
            samples, tuple(labels), arrays["measures"], arrays["code"], arrays["reason"], arrays["time"],
            arrays["steps"], tuple(channels), np.asarray(ts, dtype=float), arrays["channels"],
        )  # fmt: skip

    def __len__(self):
        return len(self.code)

    def __getitem__(self, label):
        if label not in self.labels:
            raise KeyError(f"There is no measure `{label}`. Known: {', '.join(self.labels)}.")
        return self.measures[:, self.labels.index(label)]

    @property
    def failed(self):
        """Indices of the variants that failed."""
        return np.flatnonzero(self.code != 0)

    def on_grid(self, label):
        """A measure in the shape of the grid."""
        if self.samples.axes is None:
            raise StudyError("on_grid: these samples are not a grid.")
        return self[label].reshape(self.samples.shape)

    def __str__(self):
        lines = [f"{len(self)} variants of {', '.join(self.samples.paths)}; {self.failed.size} failed"]
        for k in self.failed[:5]:
            numbers = ", ".join(f"{p} {v:.6g}" for p, v in zip(self.samples.paths, self.samples.values[k], strict=True))
            lines.append(f"  variant {k} ({numbers}): {self.reason[k]}")
        good = self.measures[self.code == 0]
        for k, label in enumerate(self.labels):
            column = good[:, k][np.isfinite(good[:, k])]
            spread = (
                f"{column.min():.6g} .. {column.max():.6g}, mean {column.mean():.6g}" if column.size else "no numbers"
            )
            lines.append(f"{label}: {spread}")
        return "\n".join(lines)

    def to_xarray(self):
        """An `xarray.Dataset` over the grid's axes, or over `variant` (needs `mbjax[io]`)."""
        try:
            import xarray
        except ImportError:
            raise ImportError("to_xarray needs xarray: pip install 'mbjax[io]'.") from None
        samples = self.samples
        if samples.axes is None:
            dims, coords = ("variant",), {p: ("variant", samples.values[:, k]) for k, p in enumerate(samples.paths)}
        else:
            dims, coords = samples.paths, dict(zip(samples.paths, samples.axes, strict=True))
        data = {label: (dims, self[label].reshape(samples.shape)) for label in self.labels}
        data["code"] = (dims, self.code.reshape(samples.shape))
        for k, channel in enumerate(self.channels):
            data[channel] = ((*dims, "time"), self.motions[:, :, k].reshape(*samples.shape, -1))
        if self.channels:
            coords["time"] = self.ts
        return xarray.Dataset(data, coords)

    def save(self, folder):
        """`sweep.npz` and `sweep.json` (names, failures), each in one piece."""
        folder = pathlib.Path(folder)
        axes = {f"axis_{k}": a for k, a in enumerate(self.samples.axes or ())}
        with Atomic(folder / "sweep.npz", "wb") as file:
            np.savez(
                file, values=self.samples.values, measures=self.measures, code=self.code, time=self.time,
                steps=self.steps, ts=self.ts, motions=self.motions, **axes,
            )  # fmt: skip
        about = {
            "paths": list(self.samples.paths),
            "labels": list(self.labels),
            "channels": list(self.channels),
            "variants": len(self),
            "failed": [{"variant": int(k), "reason": str(self.reason[k])} for k in self.failed],
        }
        with Atomic(folder / "sweep.json", "w") as file:
            json.dump(about, file, indent=1)

    @staticmethod
    def load(folder):
        """What `save` wrote."""
        folder = pathlib.Path(folder)
        try:
            about = json.loads((folder / "sweep.json").read_text())
            with np.load(folder / "sweep.npz", allow_pickle=False) as data:
                arrays = {k: data[k] for k in data.files}
        except (OSError, ValueError) as error:
            raise StudyError(
                f"{folder}: no merged sweep can be read here ({error}); run `mbjax sweep merge`."
            ) from None
        axes = tuple(arrays[k] for k in sorted(arrays) if k.startswith("axis_")) or None
        samples = Samples(tuple(about["paths"]), arrays["values"], axes)
        reason = as_texts(np.full(len(samples), ""))
        for row in about["failed"]:
            reason[row["variant"]] = row["reason"]
        arrays |= {"channels": arrays["motions"], "reason": reason}
        return SweepResult.of(samples, about["labels"], about["channels"], arrays["ts"], arrays)


def as_texts(array):
    """Texts that take as much memory as each needs: one long reason must not widen those of all variants."""
    return np.asarray(array).astype(np.dtypes.StringDType())
