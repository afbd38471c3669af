"""Functions of time for drivers and applied loads, each with value, rate and acceleration."""

from .base import AbstractSignal as AbstractSignal
from .base import rates as rates
from .constant import Constant as Constant
from .custom import Custom as Custom
from .harmonic import Harmonic as Harmonic
from .polynomial import Polynomial as Polynomial
from .ramp import ConstantSpeed as ConstantSpeed
from .ramp import SmoothStep as SmoothStep
from .table import Table as Table

CATALOGUE = (Constant, ConstantSpeed, SmoothStep, Harmonic, Polynomial, Table, Custom)
