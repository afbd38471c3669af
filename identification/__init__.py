"""Parameters of imperfect joints from measured motion: state a problem, check it, fit it, and see how sure it is."""

from .bushing_test import BushingTest, bushing_holder
from .check import Check, check
from .errors import DataError, StudyError
from .experiment import Compared, Experiment, Input
from .fit import fit, growing_horizons
from .information import Verdict
from .parameter import Parameter
from .problem import Problem
from .profile import Profile, profile, save_profiles
from .recording import Recording, Table, read_csv, read_recording, read_table
from .report import write_report
from .result import FitResult
from .study import Study, load_study

__all__ = [
    "BushingTest", "Check", "Compared", "DataError", "Experiment", "FitResult", "Input", "Parameter", "Problem",
    "Profile", "Recording", "Study", "StudyError", "Table", "Verdict", "bushing_holder", "check", "fit",
    "growing_horizons", "load_study", "profile", "read_csv", "read_recording", "read_table", "save_profiles",
    "write_report",
]  # fmt: skip
