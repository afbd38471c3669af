"""The outcome of a fit: numbers, how sure they are, and how well the model explains the data."""

import dataclasses
import json
import pathlib

import numpy as np

from mbjax.files import Atomic

from .errors import StudyError
from .information import Verdict


@dataclasses.dataclass(frozen=True)
class FitResult:
    """Names follow scipy and lmfit: `x, fun, jac, cov, stderr, correl, chisqr, redchi, aic, bic, nfev, success`.

    `jac` and `cov_scaled` belong to the space of the fit (logarithms, or values over their start); `cov`, `stderr` and
    `interval` to the values. Where the residuals are larger than the stated noise, or correlated, deviations are
    `inflation` times those that the noise alone would give.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    x: np.ndarray
    start: np.ndarray
    u: np.ndarray
    fun: np.ndarray
    jac: np.ndarray
    cov: np.ndarray
    cov_scaled: np.ndarray
    stderr: np.ndarray
    interval: np.ndarray  # (parameters, 2), 95 % Wald in the space of the fit, cut at the bounds
    correl: np.ndarray
    chisqr: float
    redchi: float
    aic: float
    bic: float
    inflation: float
    nfev: int
    success: bool
    message: str
    horizon: float  # s
    horizons: tuple[float, ...]
    verdicts: tuple
    channels: tuple[dict, ...]  # per experiment and channel: sigma, rms, fit percent, correlation of residuals
    history: tuple[dict, ...]
    provenance: dict

    def to_dict(self):
        """Plain Python, ready for JSON."""
        table = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in ("fun", "jac"):
                continue
            if isinstance(value, np.ndarray):
                value = value.tolist()
            if field.name == "verdicts":
                value = [dataclasses.asdict(v) for v in value]
            table[field.name] = value
        return table

    def save(self, folder):
        """Write `fit.json` and `fit.npz` (residuals and Jacobian) into a folder, each in one piece."""
        folder = pathlib.Path(folder)
        with Atomic(folder / "fit.npz", "wb") as file:
            np.savez(file, x=self.x, u=self.u, fun=self.fun, jac=self.jac, cov=self.cov)
        with Atomic(folder / "fit.json", "w") as file:
            json.dump(finite(self.to_dict()), file, indent=1)

    @staticmethod
    def load(folder):
        """What `save` has written."""
        folder = pathlib.Path(folder)
        try:
            table = json.loads((folder / "fit.json").read_text())
            with np.load(folder / "fit.npz") as arrays:
                table.update(fun=arrays["fun"], jac=arrays["jac"])
        except (OSError, ValueError) as error:
            raise StudyError(f"{folder}: no fit can be read here ({error}); run `mbjax fit` first.") from None
        table["verdicts"] = tuple(
            Verdict(v["name"], v["word"], float(v["alone"]), float(v["deviation"]), tuple(v["partners"]))
            for v in table["verdicts"]
        )
        for field in dataclasses.fields(FitResult):
            if field.type is np.ndarray:
                table[field.name] = np.array(table[field.name], dtype=float)
            elif field.type is float:
                table[field.name] = float(table[field.name])
            elif isinstance(table[field.name], list):
                table[field.name] = tuple(table[field.name])
        return FitResult(**table)

    def __str__(self):
        rows = [("parameter", "value", "+-", "95 % interval", "start", "verdict")]
        for k, name in enumerate(self.names):
            low, high = self.interval[k]
            label = f"{name} [{self.units[k]}]" if self.units[k] else name
            rows.append(
                (
                    label, f"{self.x[k]:.7g}", f"{self.stderr[k]:.2g}", f"{low:.6g} .. {high:.6g}",
                    f"{self.start[k]:.4g}", str(self.verdicts[k]),
                )
            )  # fmt: skip
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]
        lines.append("")
        for c in self.channels:
            lines.append(
                f"{c['experiment']}, {c['channel']} ({c['role']}): rms {c['rms']:.3g}, sigma {c['sigma']:.3g}, "
                f"fit {c['fit_percent']:.4g} %, lag-1 correlation of residuals {c['lag1']:.2f}"
            )
        lines.append(
            f"reduced chi-square {self.redchi:.4g}, horizon {self.horizon:.4g} s, {self.nfev} steps; {self.message}"
        )
        if self.inflation > 1:
            lines.append(
                f"The residuals are not white noise of the stated size: deviations are {self.inflation:.2g} times "
                "those of the noise alone."
            )
        return "\n".join(lines)


def finite(value):
    """JSON has no infinity: such numbers become text."""
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return value
