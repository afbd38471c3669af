"""Thousands of variants of a mechanism: samples, measures of each motion, files that survive a kill."""

from .engine import sweep, this_process
from .result import SweepResult
from .samples import Samples, grid, uniform
from .store import merge, status

__all__ = ["Samples", "SweepResult", "grid", "merge", "status", "sweep", "this_process", "uniform"]
