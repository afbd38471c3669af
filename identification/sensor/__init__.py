"""What a rig really measures: a channel, or what an accelerometer feels, seen through gain, bias, filter and delay."""

from .accelerometer import Accelerometer
from .base import AbstractSensor
from .channel_sensor import ChannelSensor, encoder, gyroscope, load_cell, motor_current
from .low_pass import Butterworth, ChannelFrequencyClass, Unfiltered

__all__ = [
    "AbstractSensor", "Accelerometer", "Butterworth", "ChannelFrequencyClass", "ChannelSensor", "Unfiltered", "encoder",
    "gyroscope", "load_cell", "motor_current",
]  # fmt: skip
