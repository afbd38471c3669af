"""A connection: one frame on two bodies, and a realisation that says what happens to each relative motion."""

import equinox as eqx

from .body import GROUND
from .contact.stop import Stop
from .frame import Frame
from .joint import AbstractRealisation
from .signal import AbstractSignal

COORDINATES = ("axial", "radial_h", "radial_t", "radial", "tilt", "tilt_h", "tilt_t", "spin")


class Connection(eqx.Module):
    """The seam of P1: swap `realisation` and the frame, the names and the channels stay.

    The bearing's axes define axial and radial. Forces are those of the bearing on the journal. `stops` limit joint
    coordinates that the realisation leaves open; they stay when the realisation is replaced.
    """

    name: str = eqx.field(static=True)
    frame: Frame
    bearing: str = eqx.field(static=True)
    journal: str = eqx.field(static=True)
    realisation: AbstractRealisation
    stops: tuple[Stop, ...]

    def __init__(self, name, frame, *, journal, realisation, bearing=GROUND, stops=()):
        self.name = name
        self.frame = frame
        self.bearing = bearing
        self.journal = journal
        self.realisation = realisation
        self.stops = tuple(stops)

    def __check_init__(self):
        if not isinstance(self.frame, Frame):
            raise ValueError(f"Connection `{self.name}`: frame is {self.frame!r}; make one with `mbjax.frame(point)`.")
        if not isinstance(self.realisation, AbstractRealisation):
            raise ValueError(
                f"Connection `{self.name}`: realisation is {self.realisation!r}; expected a joint such as Revolute()."
            )
        for stop in self.stops:
            if not isinstance(stop, Stop):
                raise ValueError(f"Connection `{self.name}`: {stop!r} under `stops` is not a Stop.")
            if stop.coordinate not in COORDINATES:
                raise ValueError(
                    f"Connection `{self.name}`: a stop limits `{stop.coordinate}`, which is not a joint coordinate. "
                    f"Known: {', '.join(COORDINATES)}."
                )
        if self.bearing == self.journal:
            raise ValueError(f"Connection `{self.name}` joins body `{self.bearing}` to itself.")


class Driver(eqx.Module):
    """Prescribes one joint coordinate as a function of time; its reaction is the motor force or torque.

    `coordinate` is one of axial, radial_h, radial_t (m), tilt_h, tilt_t, spin (rad).
    """

    name: str = eqx.field(static=True)
    connection: str = eqx.field(static=True)
    coordinate: str = eqx.field(static=True)
    signal: AbstractSignal

    def __check_init__(self):
        drivable = [c for c in COORDINATES if c not in ("radial", "tilt")]
        if self.coordinate not in drivable:
            raise ValueError(
                f"Driver `{self.name}`: `{self.coordinate}` cannot be driven. Coordinates: {', '.join(drivable)}."
            )
        if not isinstance(self.signal, AbstractSignal):
            raise ValueError(
                f"Driver `{self.name}`: signal is {self.signal!r}; expected a signal such as ConstantSpeed(10.0)."
            )
