import equinox as eqx
import numpy as np

from mbjax.array import number

from .base import AbstractSensor, check_numbers
from .low_pass import AbstractFilter, Unfiltered


class ChannelSensor(AbstractSensor):
    """One channel of the motion, seen through gain, bias, filter and delay."""

    channel: str = eqx.field(static=True)
    filter: AbstractFilter = Unfiltered()
    gain: np.ndarray = eqx.field(converter=number, default=1.0)
    bias: np.ndarray = eqx.field(converter=number, default=0.0)
    delay: np.ndarray = eqx.field(converter=number, default=0.0)  # s

    def __check_init__(self):
        check_numbers(self)

    def channels(self):
        return (self.channel,)

    def signals(self, values):
        return None, None, values[:, 0]


def gyroscope(marker, axis, **settings):
    """Angular rate about one axis of a marker."""
    return ChannelSensor(f"{marker}.angular_velocity_local.{axis}", **settings)


def load_cell(connection, axis, **settings):
    """Reaction force in a connection, along x, y, z (global) or h, t, b (of its bearing)."""
    return ChannelSensor(f"{connection}.reaction.{axis}", **settings)


def encoder(connection, coordinate="spin", **settings):
    """A joint coordinate; its zero is the bias."""
    return ChannelSensor(f"{connection}.{coordinate}", **settings)


def motor_current(driver, torque_constant=1.0, **settings):
    """Current of the motor behind a driver: its force or torque over the torque constant."""
    return ChannelSensor(f"{driver}.force", gain=1.0 / torque_constant, **settings)
