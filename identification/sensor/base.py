import dataclasses
from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from mbjax.array import is_concrete
from mbjax.errors import did_you_mean

from ..errors import StudyError
from .low_pass import AbstractFilter


class AbstractSensor(eqx.Module):
    """From channels of the motion to what is recorded: reading = gain x filtered(t - delay) + bias.

    All numbers are array leaves, so that they can be fitted by path, `accelerometer.bias` for a sensor named
    `accelerometer` in the problem.
    """

    gain: eqx.AbstractVar[np.ndarray]  # reading per unit of the channel
    bias: eqx.AbstractVar[np.ndarray]  # in units of the reading
    delay: eqx.AbstractVar[np.ndarray]  # s
    filter: eqx.AbstractVar[AbstractFilter]

    @abstractmethod
    def channels(self):
        """Names of the channels it needs."""

    @abstractmethod
    def signals(self, values):
        """`(smooth, slope, direct)`: what is felt is the rate of `smooth` plus `direct`, each (times,). `slope` is that
        rate at the samples; both may be None.

        A contact's acceleration is a spike between samples; its integral, the velocity, is not.
        """

    def read(self, ts, values):
        """Readings at `ts` (increasing; the last may be repeated) of `values` (times, channels)."""
        seen = self.filter(ts, *self.signals(values))
        return self.gain * delayed(ts, seen, self.delay) + self.bias


def delayed(ts, signal, delay):
    """The signal of a time `delay` ago, linear between samples; the first sample stands for what was before."""
    return jnp.interp(ts - delay, ts, signal)


def check_numbers(sensor):
    """Shared by the classes: a delay is not negative, a gain not zero."""
    for label, bad in (("delay", sensor.delay < 0), ("gain", sensor.gain == 0)):
        if is_concrete(bad) and bad:
            raise StudyError(f"{type(sensor).__name__}: {label} {float(getattr(sensor, label)):g} makes no sense.")


def sensor_value(sensor, name, path):
    """A number of a sensor, by path (`gain`, `filter.cutoff`)."""
    holder, _, field = path.rpartition(".")
    part = _part(sensor, holder)
    known = _numbers(sensor)
    if part is None or field not in _own_numbers(part):
        raise StudyError(
            f"Sensor `{name}` has no number `{path}`.{did_you_mean(path, known)} Known: {', '.join(known)}."
        )
    return getattr(part, field)


def with_sensor_value(sensor, path, value):
    """The sensor with another number at `path`."""
    holder, _, field = path.rpartition(".")
    return eqx.tree_at(lambda s: getattr(_part(s, holder), field), sensor, value)


def _part(sensor, holder):
    return {"": sensor, "filter": sensor.filter}.get(holder)


def _own_numbers(part):
    names = [f.name for f in dataclasses.fields(part)]
    return [n for n in names if eqx.is_array_like(getattr(part, n)) and not isinstance(getattr(part, n), bool | int)]


def _numbers(sensor):
    return _own_numbers(sensor) + [f"filter.{n}" for n in _own_numbers(sensor.filter)]
