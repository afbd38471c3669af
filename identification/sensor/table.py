"""A sensor from its table in a study: `{kind = "accelerometer", marker = "tip", axis = "x", low_pass = "10 kHz"}`."""

import inspect

from mbjax.io.faults import join

from ..errors import StudyError
from ..quantity import read_number
from .accelerometer import Accelerometer
from .channel_sensor import ChannelSensor, encoder, gyroscope, load_cell, motor_current
from .low_pass import Butterworth, ChannelFrequencyClass, Unfiltered

KINDS = {
    "accelerometer": Accelerometer,
    "channel": ChannelSensor,
    "encoder": encoder,
    "gyroscope": gyroscope,
    "load_cell": load_cell,
    "motor_current": motor_current,
}
_NUMBERS = {"gain": "", "bias": "", "delay": "s", "low_pass": "Hz", "cfc": "", "torque_constant": ""}


def sensor_from_table(name, table, faults):
    """The sensor, or None after faults."""
    where = join("sensors", name)
    kind = table.get("kind")
    if kind is None:
        return faults.missing(where, "kind", '"accelerometer"')
    if not isinstance(kind, str) or kind not in KINDS:
        return faults.choice(join(where, "kind"), kind, "a sensor", list(KINDS))
    own = [p for p in inspect.signature(KINDS[kind]).parameters.values() if p.name not in ("filter", "settings")]
    known = list(dict.fromkeys([*(p.name for p in own), "gain", "bias", "delay", "low_pass", "order", "cfc"]))
    before = len(faults.messages)
    faults.unknown_keys(where, {k: v for k, v in table.items() if k != "kind"}, known)
    for p in own:
        if p.default is inspect.Parameter.empty and p.name not in table:
            faults.missing(where, p.name, '"..."')
    given = {}
    for key, value in table.items():
        if key in _NUMBERS:
            given[key] = read_number(value, _NUMBERS[key], join(where, key), faults)
        elif key in known and key not in ("order",):
            given[key] = value
    if "low_pass" in table and "cfc" in table:
        faults.add(where, "has both `low_pass` and `cfc`; keep one.")
    if len(faults.messages) > before:
        return None
    low_pass, frequency_class = given.pop("low_pass", None), given.pop("cfc", None)
    try:
        if low_pass is not None:
            given["filter"] = Butterworth(low_pass, table.get("order", 2))
        elif frequency_class is not None:
            given["filter"] = ChannelFrequencyClass(frequency_class)
        else:
            given["filter"] = Unfiltered()
        return KINDS[kind](**given)
    except (StudyError, ValueError, TypeError) as error:
        return faults.add(where, str(error))
