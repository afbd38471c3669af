"""Frequency responses of a mechanism about its rest: shaker tests, dynamic stiffness of an assembly."""

import dataclasses
import hashlib

import jax.numpy as jnp
import numpy as np

import mbjax as mb

from .errors import DataError
from .tabulated import Tabulated

CHANNELS = ("magnitude", "phase", "real", "imaginary")
QUANTITIES = ("position", "velocity", "acceleration", "dynamic_stiffness")


@dataclasses.dataclass(frozen=True)
class FrequencyTest(Tabulated):
    """Response of `channel` (a position or joint coordinate) to a harmonic unit load of the element `load`.

    `measured` maps "magnitude", "phase" (rad), "real", "imaginary" to values over `frequencies` (Hz); NaN is missing.
    `quantity` says of what: the channel's "position" per N (or N m), its "velocity" or "acceleration", or
    "dynamic_stiffness", load over channel. The mechanism is linearised about the equilibrium next to its start
    (`positions` as in `Experiment`), which a fit moves along with the parameters. `sigma` is the noise per entry of
    `measured`, or "estimate".
    """

    name: str
    load: str
    channel: str
    frequencies: np.ndarray  # Hz
    measured: dict
    sigma: dict = dataclasses.field(default_factory=dict)
    quantity: str = "position"
    positions: dict | None = None
    mechanism: object = None
    validation: bool = False
    source: str = "arrays"

    def __post_init__(self):
        frequencies = np.atleast_1d(np.asarray(self.frequencies, dtype=float))
        object.__setattr__(self, "frequencies", frequencies)
        where = f"Frequency test `{self.name}`"
        if not (np.isfinite(frequencies).all() and (frequencies > 0).all()):
            raise DataError(f"{where}: frequencies must be positive.")
        if self.quantity not in QUANTITIES:
            raise DataError(f"{where}: quantity `{self.quantity}` is unknown; choose {', '.join(QUANTITIES)}.")
        if not self.measured:
            raise DataError(f"{where}: nothing is measured; give {' or '.join(CHANNELS)}.")
        columns = {}
        for channel, values in self.measured.items():
            if channel not in CHANNELS:
                raise DataError(f"{where}: `{channel}` is unknown; there are {', '.join(CHANNELS)}.")
            columns[channel] = np.asarray(values, dtype=float)
            if columns[channel].shape != frequencies.shape:
                raise DataError(
                    f"{where}: `{channel}` has shape {columns[channel].shape}; there are {frequencies.size} "
                    "frequencies."
                )
        object.__setattr__(self, "measured_by_channel", columns)
        object.__setattr__(self, "measured", np.stack(list(columns.values()), axis=-1))

    @property
    def digest(self):
        return hashlib.sha256(self.frequencies.tobytes() + self.measured.tobytes()).hexdigest()

    def predict(self, system, positions):
        """The channels as the columns of `measured`; NaN where there is no equilibrium. Traceable."""
        rest = mb.equilibrium(system, mb.initial_state(system, positions=positions), throw=False)
        response = mb.linearize(system, rest).frequency_response(self.load, self.channel, self.frequencies)
        if self.quantity == "dynamic_stiffness":
            response = 1.0 / response
        else:
            response = response * (2j * jnp.pi * self.frequencies) ** QUANTITIES.index(self.quantity)
        return jnp.stack([self._column(c, response) for c in self.measured_by_channel], axis=-1)

    def _column(self, channel, response):
        if channel == "magnitude":
            return jnp.abs(response)
        if channel == "phase":
            # On the turn next to the measured one: phases are known up to whole turns.
            angle, near = jnp.angle(response), np.nan_to_num(self.measured_by_channel["phase"])
            return angle + 2 * jnp.pi * jnp.round((near - angle) / (2 * jnp.pi))
        return jnp.real(response) if channel == "real" else jnp.imag(response)
