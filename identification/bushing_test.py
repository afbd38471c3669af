"""Component tests of bushings: force loops, and tables of dynamic stiffness and loss angle."""

import dataclasses
import hashlib

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from .errors import DataError, StudyError
from .tabulated import Tabulated

CHANNELS = ("dynamic_stiffness", "loss_angle", "force")


@dataclasses.dataclass(frozen=True)
class BushingTest(Tabulated):
    """Steady cycles mean + amplitude sin(phase) of one deflection of the bushing in `connection`.

    `measured` maps channels to arrays over (amplitudes, frequencies): "dynamic_stiffness" (N/m, N m/rad), "loss_angle"
    (rad), and "force" (N, N m) with a third axis over `phase` (rad, from the middle of the rising deflection). NaN is
    missing. `sigma` is the noise per channel in SI, or "estimate". For bushings without a mechanism see
    `bushing_holder`.
    """

    name: str
    connection: str
    deflection: str
    amplitudes: np.ndarray
    frequencies: np.ndarray  # Hz
    measured: dict
    sigma: dict = dataclasses.field(default_factory=dict)
    phase: np.ndarray | None = None
    mean: float = 0.0
    validation: bool = False
    source: str = "arrays"

    def __post_init__(self):
        for field in ("amplitudes", "frequencies"):
            object.__setattr__(self, field, np.atleast_1d(np.asarray(getattr(self, field), dtype=float)))
        if self.phase is not None:
            object.__setattr__(self, "phase", np.asarray(self.phase, dtype=float))
        shape = (self.amplitudes.size, self.frequencies.size)
        if not self.measured:
            raise DataError(f"Bushing test `{self.name}`: nothing is measured; give {' or '.join(CHANNELS)}.")
        measured = {}
        for channel, values in self.measured.items():
            if channel not in CHANNELS:
                raise DataError(
                    f"Bushing test `{self.name}`: channel `{channel}` is unknown; there are {', '.join(CHANNELS)}."
                )
            if channel == "force" and self.phase is None:
                raise DataError(f"Bushing test `{self.name}`: `force` needs the phase of its samples.")
            measured[channel] = np.asarray(values, dtype=float)
            expected = (*shape, self.phase.size) if channel == "force" else shape
            if measured[channel].shape != expected:
                raise DataError(
                    f"Bushing test `{self.name}`: `{channel}` has shape {measured[channel].shape}; expected {expected} "
                    "(amplitudes, frequencies" + (", phases)." if channel == "force" else ").")
                )
        object.__setattr__(self, "measured_by_channel", measured)
        object.__setattr__(self, "measured", columns(measured.values(), np.nan, np))

    @property
    def digest(self):
        found = hashlib.sha256()
        for part in (self.amplitudes, self.frequencies, self.phase, self.measured):
            found.update(b"" if part is None else part.tobytes())
        return found.hexdigest()

    def check(self, mechanism):
        """Whether there is such a bushing."""
        try:
            bushing = mechanism[self.connection].realisation
        except (KeyError, AttributeError, ValueError):
            names = ", ".join(c.name for c in mechanism.connections)
            raise StudyError(
                f"Bushing test `{self.name}`: there is no connection `{self.connection}`; there are {names}."
            ) from None
        if not isinstance(bushing, mb.Bushing):
            raise StudyError(f"Bushing test `{self.name}`: `{self.connection}` is not a bushing.")
        mb.bushing_rig(bushing, self.deflection, self.amplitudes, self.frequencies, mean=self.mean)

    def predict(self, mechanism):
        """The channels as the columns of `measured`."""
        bushing = mechanism[self.connection].realisation
        found = mb.bushing_rig(bushing, self.deflection, self.amplitudes, self.frequencies, mean=self.mean)
        parts = []
        for channel in self.measured_by_channel:
            if channel == "force":
                steps = found.force.shape[-1]
                grid = 2 * np.pi * np.arange(steps) / steps
                loops = found.force.reshape(-1, steps)
                parts.append(jax.vmap(lambda loop, x=grid: jnp.interp(self.phase, x, loop, period=2 * np.pi))(loops))
            else:
                parts.append(getattr(found, channel))
        return columns(parts, 0.0, jnp)


def columns(parts, filling, namespace):
    """Arrays of any size as the columns of one; short ones are filled up."""
    parts = [p.reshape(-1) for p in parts]
    rows = max(p.size for p in parts)
    full = [namespace.concatenate([p, namespace.full(rows - p.size, filling)]) for p in parts]
    return namespace.stack(full, axis=-1)


def bushing_holder(bushing):
    """A mechanism that holds one bushing as its connection `mount`: paths are `mount.stiffness.2`,
    `mount.branches.0.limit.2` and so on."""
    return mb.library.bushing_rig(bushing)
