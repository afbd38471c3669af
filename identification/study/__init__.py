"""Study files: what `mbjax check`, `fit`, `profile`, `sweep` and `sensitivity` read."""

from .load import Study as Study
from .load import load_study as load_study
from .sweep import load_sensitivity as load_sensitivity
from .sweep import load_sweep as load_sweep
