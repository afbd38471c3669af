"""Global sensitivity through SALib (extra `gsa`): Sobol's and Morris's indices of measures over ranges of numbers.

Names are SALib's: S1, ST, S2 with `_conf`; mu, mu_star, sigma. The samples run through the sweep engine, so they take
its files, shards and executors.
"""

import numpy as np

from .errors import StudyError
from .sweep import Samples, sweep


def sobol(mechanism, ranges, measure, ts, *, count=256, seed=0, log=(), second_order=False, **how):
    """Sobol's indices of every number of the measures: `({label: indices}, SweepResult)`.

    `ranges` is `{path: (low, high)}`, uniform (in the logarithm for paths in `log`); `count` is a power of 2, and there
    are count x (paths + 2) runs (2 paths + 2 with `second_order`). `how` goes to `sweep`.
    """
    samples_of, analyse = _salib("sobol", "sobol")
    problem = _problem(ranges, log)
    table = samples_of(problem, count, calc_second_order=second_order, seed=seed)

    def indices(column):
        return analyse(problem, column, calc_second_order=second_order, seed=seed)

    return _answers(mechanism, ranges, log, table, measure, ts, indices, how)


def morris(mechanism, ranges, measure, ts, *, count=20, levels=4, seed=0, log=(), **how):
    """Morris's elementary effects of every number of the measures, `({label: indices}, SweepResult)`, from
    count x (paths + 1) runs."""
    samples_of, analyse = _salib("morris", "morris")
    problem = _problem(ranges, log)
    table = samples_of(problem, count, num_levels=levels, seed=seed)

    def indices(column):
        return analyse(problem, table, column, num_levels=levels, seed=seed)

    return _answers(mechanism, ranges, log, table, measure, ts, indices, how)


def _salib(sample, analysis):
    import importlib

    try:
        samples_of = importlib.import_module(f"SALib.sample.{sample}").sample
        return samples_of, importlib.import_module(f"SALib.analyze.{analysis}").analyze
    except ImportError:
        raise ImportError("sobol and morris need SALib: pip install 'mbjax[gsa]'.") from None


def _problem(ranges, log):
    if not ranges:
        raise StudyError("sobol: give at least one path with its range.")
    for path, (low, high) in ranges.items():
        if not low < high or (path in log and not low > 0):
            raise StudyError(f"sobol: the range ({low:g}, {high:g}) of `{path}` makes no sense.")
    bounds = [list(np.log(r)) if p in log else list(r) for p, r in ranges.items()]
    return {"num_vars": len(ranges), "names": list(ranges), "bounds": bounds}


def _answers(mechanism, ranges, log, table, measure, ts, indices, how):
    values = np.where([p in log for p in ranges], np.exp(table), table)
    result = sweep(mechanism, Samples(tuple(ranges), values), measure, ts, **how)
    if result.failed.size:
        raise StudyError(
            f"sobol: {result.failed.size} of {len(result)} variants failed, the indices would be wrong; the first: "
            f"{result.reason[result.failed[0]]}. Narrow the ranges."
        )
    found = {}
    for label in result.labels:
        if not np.isfinite(result[label]).all():
            raise StudyError(f"sobol: `{label}` does not exist in all variants (NaN); choose another measure.")
        found[label] = {k: np.asarray(v) for k, v in indices(result[label]).items() if k != "names"}
    return found, result
