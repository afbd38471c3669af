"""What the command says, and where: people on stdout, programs one JSON object on stdout and the rest on stderr."""

import json
import math
import sys
import time
import traceback
import warnings

from ..errors import ModelError, ModelWarning, SimulationError

_MODEL_ERROR, _SOLVER_FAILURE = 2, 3
_LOG_INTERVAL = 2.0  # s


class Console:
    """Output of one command."""

    def __init__(self, as_json):
        self.as_json = as_json
        self.warnings = []
        self._line = False
        self._shown = -math.inf

    def say(self, text=""):
        """A line for people."""
        self._end_progress()
        print(text, file=sys.stderr if self.as_json else sys.stdout, flush=True)

    def progress(self, text):
        """A line that replaces the previous one on a terminal; in a log, a line every two seconds at most."""
        if sys.stderr.isatty():
            print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)
            self._line = True
        elif time.monotonic() - self._shown > _LOG_INTERVAL:
            print(text, file=sys.stderr, flush=True)
            self._shown = time.monotonic()

    def _end_progress(self):
        if self._line:
            print(file=sys.stderr, flush=True)
            self._line = False

    def report(self, data):
        """The JSON object, when one is wanted."""
        if self.as_json:
            print(json.dumps(plain(data)), flush=True)

    def show_warning(self, message, category, filename, lineno, file=None, line=None):
        """Model warnings in one line; all others as Python shows them."""
        self._end_progress()
        if issubclass(category, ModelWarning):
            self.warnings.append(str(message))
            print(f"warning: {' '.join(str(message).split())}", file=sys.stderr, flush=True)
        else:
            print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=sys.stderr)

    def fail(self, code, faults):
        """Say what went wrong; returns the exit code."""
        self._end_progress()
        for fault in faults:
            print(f"error: {fault}", file=sys.stderr, flush=True)
        self.report({"ok": False, "exit_code": code, "faults": faults, "warnings": self.warnings})
        return code

    def fail_with(self, error):
        """The exit code of an exception. Only a defect of mbjax itself shows a traceback."""
        if isinstance(error, ModelError):
            return self.fail(_MODEL_ERROR, error.faults)
        if isinstance(error, SimulationError):
            return self.fail(_SOLVER_FAILURE, [str(error)])
        if isinstance(error, OSError):
            return self.fail(_MODEL_ERROR, [f"{error.filename}: {error.strerror}."])
        if isinstance(error, ValueError):
            return self.fail(_MODEL_ERROR, [str(error)])
        traceback.print_exception(error)
        return self.fail(1, [f"unexpected {type(error).__name__}: {error}. This is a defect of mbjax; please report."])


def plain(data):
    """Data that JSON can hold: NaN and infinity become null, arrays lists."""
    if isinstance(data, dict):
        return {str(k): plain(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [plain(v) for v in data]
    if isinstance(data, bool | str | int | None):
        return data
    number = float(data)
    return number if math.isfinite(number) else None
