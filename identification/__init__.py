"""Parameters of imperfect joints from measured motion: state a problem, check it, fit it, and see how sure it is."""

from .check import Check, check
from .errors import DataError, StudyError
from .experiment import Compared, Experiment
from .fit import fit, growing_horizons
from .information import Verdict
from .parameter import Parameter
from .problem import Problem
from .recording import Recording, read_csv
from .result import FitResult

__all__ = [
    "Check", "Compared", "DataError", "Experiment", "FitResult", "Parameter", "Problem", "Recording", "StudyError",
    "Verdict", "check", "fit", "growing_horizons", "read_csv",
]  # fmt: skip
