"""CPU time on one core, every measurement in a process of its own."""

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


def best_of(run, repeats, prepare=tuple, least=1.0):
    """Smallest CPU time (s) of calls of `run(prepare())`, and what the last call returned.

    At least `repeats` calls, and so many (up to 50) that they take `least` seconds: short runs on a busy machine
    need more. Only `run` is timed.
    """
    best, total, calls = float("inf"), 0.0, 0
    while calls < repeats or (total < least and calls < 50 and repeats > 1):
        prepared = prepare()
        begin = time.process_time()
        value = run(*prepared)
        seconds = time.process_time() - begin
        best, total, calls = min(best, seconds), total + seconds, calls + 1
    return best, value


class Search:
    """The cheapest setting that stays within an error.

    `error_at(effort)` is the error of a setting that becomes more accurate, and dearer, with `effort` (steps, or one
    over the tolerance). A setting counts only if the settings at the efforts times `confirm` pass as well: a single
    pass below the trend is luck of signs, not accuracy.
    """

    def __init__(self, error_at, limit, confirm=(1.0, 1.1, 1.25, 1.5)):
        self.error_at = error_at
        self.limit = limit
        self.confirm = confirm
        self.seen = {}

    def error(self, effort):
        if effort not in self.seen:
            self.seen[effort] = self.error_at(effort)
        return self.seen[effort]

    def passes(self, effort):
        return all(self.error(effort * factor) <= self.limit for factor in self.confirm)

    def run(self, start, highest, factor=2.0, refinements=5):
        """Effort of the cheapest setting and whether it is within the limit; otherwise the most accurate one seen."""
        high = start
        while not self.passes(high):
            high *= factor
            if high > highest:
                return min(self.seen, key=lambda e: (not self.seen[e] >= 0, self.seen[e])), False
        low = high / factor
        for _ in range(refinements if high > start else 0):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if self.passes(middle) else (middle, high)
        return high, True


def isolated(task, core, *, timeout=600.0, **arguments):
    """Result (a dict) of `module:function(**arguments)` in a new process on one core; `{"failure": ...}` otherwise."""
    command = [sys.executable, "-m", f"{__package__}.timing", str(core), task, json.dumps(arguments)]
    # One thread everywhere, and no compilation cache: compile times are measured.
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    environment = {**os.environ, **threads, "JAX_ENABLE_COMPILATION_CACHE": "false", "JAX_PLATFORMS": "cpu"}
    try:
        done = subprocess.run(
            command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failure": f"no result after {timeout:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"failure": lines[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    """`python -m experiments.benchmarks.timing CORE MODULE:FUNCTION JSON`: one measurement, pinned; prints JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("core", type=int)
    parser.add_argument("task")
    parser.add_argument("arguments", type=json.loads)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        # Before the peer is imported: thread pools count the cores that they may use.
        os.sched_setaffinity(0, {options.core})
    module, function = options.task.split(":")
    try:
        result = getattr(importlib.import_module(f"{__package__}.{module}"), function)(**options.arguments)
    except ModuleNotFoundError as error:
        result = {"failure": f"{error.name} is not installed"}
    print("\n" + json.dumps(result))


if __name__ == "__main__":
    main()
