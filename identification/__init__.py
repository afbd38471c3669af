"""Parameters of imperfect joints from measured motion: state a problem, check it, fit it, and see how sure it is."""

from . import measure
from .bushing_test import BushingTest, bushing_holder
from .check import Check, check
from .design import Designs, Planned, design, planned
from .errors import DataError, StudyError
from .experiment import Compared, Experiment, Input
from .feature_test import Feature, FeatureTest
from .fit import fit, growing_horizons
from .frequency_test import FrequencyTest
from .indices import morris, sobol
from .information import Verdict
from .parameter import Parameter
from .posterior import Draws, laplace, nuts, posterior_prediction
from .problem import Problem
from .profile import Profile, profile, save_profiles
from .ranking import Ranked, Ranking, rank
from .recording import Recording, Table, read_csv, read_recording, read_table
from .repeats import Repeats, repeats
from .report import write_report
from .result import FitResult
from .sensitivity import Sensitivity, sensitivity
from .sensor import (
    Accelerometer,
    Butterworth,
    ChannelFrequencyClass,
    ChannelSensor,
    Unfiltered,
    encoder,
    gyroscope,
    load_cell,
    motor_current,
)
from .shooting import shooting
from .study import Study, load_study
from .sweep import Samples, SweepResult, grid, merge, status, sweep, this_process, uniform

__all__ = [
    "Accelerometer", "BushingTest", "Butterworth", "ChannelFrequencyClass", "ChannelSensor", "Check", "Compared",
    "DataError", "Designs", "Draws", "Experiment", "Feature", "FeatureTest", "FitResult", "FrequencyTest", "Input",
    "Parameter", "Planned", "Problem", "Profile", "Ranked", "Ranking", "Recording", "Repeats", "Samples",
    "Sensitivity", "Study", "StudyError", "SweepResult", "Table", "Unfiltered", "Verdict", "bushing_holder",
    "check", "design", "encoder", "fit", "grid", "growing_horizons", "gyroscope", "laplace", "load_cell",
    "load_study", "measure", "merge", "morris", "motor_current", "nuts", "planned", "posterior_prediction",
    "profile", "rank", "read_csv", "read_recording", "read_table", "repeats", "save_profiles", "sensitivity",
    "shooting", "sobol", "status", "sweep", "this_process", "uniform", "write_report",
]  # fmt: skip
