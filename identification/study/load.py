"""Study files (TOML): model, parameters, experiments and the settings of the fit."""

import dataclasses

import numpy as np

import mbjax as mb
from mbjax.io.faults import describe, join

from ..loss import LOSSES
from ..parameter import Parameter
from ..problem import START, Problem
from ..quantity import read_number
from ..sensor.base import sensor_value
from ..sensor.table import sensor_from_table
from .experiments import experiments_of
from .file import channel_units, read_model, read_toml, tables, unit_of

_PARAMETER = ("path", "paths", "start", "lower", "upper", "scale", "prior", "experiments")
_FIT = (
    "rtol",
    "horizons",
    "starts",
    "candidates",
    "seed",
    "tolerance",
    "most",
    "loss",
    "loss_scale",
    "method",
    "repeats",
)


_COUNTS = {"starts": 1, "candidates": 1, "most": 1, "seed": 0}  # whole numbers, and the least of each


@dataclasses.dataclass(frozen=True)
class Study:
    """A problem and how to fit it: `settings` for `fit`, and whether runs shall be fitted one by one as well."""

    problem: Problem
    settings: dict
    repeats: bool = False


def load_study(path):
    """The study in a TOML file. All faults are reported together, each with its key."""
    path, faults, data = read_toml(path)
    mechanism = read_model(data.get("model"), "model", path, faults)
    given = tables(data, "sensors", faults) if "sensors" in data else []
    sensors = {n: sensor_from_table(n, t, faults) for n, t in given}
    parameters = [_parameter(n, t, mechanism, sensors, faults) for n, t in tables(data, "parameters", faults)]
    experiments, units = [], channel_units(mechanism)
    for name, table in tables(data, "experiments", faults):
        found, unknown = experiments_of(name, table, path, units, faults)
        experiments += found
        parameters += unknown
    settings = _settings(data.get("fit", {}), faults)
    faults.raise_any()
    loss = {k: settings.pop(k) for k in ("loss", "loss_scale") if k in settings}
    steps, repeats = mb.Adaptive(rtol=settings.pop("rtol", 1e-8)), settings.pop("repeats", False)
    problem = Problem(mechanism, parameters, experiments, steps=steps, sensors=sensors, **loss)
    return Study(problem, settings, repeats)


def _parameter(name, table, mechanism, sensors, faults):
    where = join("parameters", name)
    faults.unknown_keys(where, table, _PARAMETER)
    if "path" in table and "paths" in table:
        return faults.add(join(where, "path"), "is given beside `paths`; put all of them into `paths`.")
    paths = table.get("paths", table.get("path"))
    paths = [paths] if isinstance(paths, str) else paths
    if not isinstance(paths, list) or not paths or not all(isinstance(p, str) for p in paths):
        return faults.missing(where, "path", '"pin.interface.normal.elastic.stiffness"')
    unit = ""
    if mechanism is not None:
        for p in paths:
            owner, _, field = p.partition(".")
            if owner == START:
                continue  # the problem looks for it among the experiments
            try:
                if sensors.get(owner) is not None:
                    sensor_value(sensors[owner], owner, field)
                elif owner not in sensors:
                    mechanism.value(p)
            except ValueError as error:
                faults.add(join(where, "path"), str(error))
                return None
        if paths[0].partition(".")[0] not in (START, *sensors):
            unit = unit_of(mechanism, paths[0])
    numbers = {}
    for key in ("start", "lower", "upper"):
        if key in table:
            numbers[key] = read_number(table[key], unit, join(where, key), faults)
    prior = table.get("prior")
    if prior is not None:
        if not isinstance(prior, list) or len(prior) != 2:
            return faults.add(join(where, "prior"), f"is {describe(prior)}; expected [mean, deviation].")
        prior = tuple(read_number(x, unit, join(where, "prior"), faults) for x in prior)
    if None in numbers.values() or (prior is not None and None in prior):
        return None
    try:
        return Parameter(
            name, tuple(paths), scale=table.get("scale", "linear"), unit=unit, prior=prior,
            experiments=table.get("experiments"), **numbers,
        )  # fmt: skip
    except ValueError as error:
        return faults.add(where, str(error))


def _settings(table, faults):
    faults.unknown_keys("fit", table, _FIT)
    good = {}
    for key, value in table.items():
        where = join("fit", key)
        if key == "horizons":
            numbers = value if isinstance(value, list) else [value]
            good[key] = [read_number(v, "s", where, faults) for v in numbers]
            if None not in good[key] and any(b <= a for a, b in zip([0.0, *good[key]], good[key], strict=False)):
                faults.add(where, f"{good[key]} must be positive and increase (s).")
        elif key == "method":
            good[key] = _method(value, faults)
        elif key == "loss":
            good[key] = value if value in LOSSES else faults.choice(where, str(value), "a loss", list(LOSSES))
        elif key == "repeats":
            good[key] = value is True
            if not isinstance(value, bool):
                faults.add(where, f"is {describe(value)}; expected true or false.")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            faults.add(where, f"is {describe(value)}; expected a number.")
        elif key in _COUNTS and (not isinstance(value, int) or value < _COUNTS[key]):
            faults.add(where, f"is {value:g}; expected a whole number of at least {_COUNTS[key]}.")
        elif key not in _COUNTS and not value > 0:
            faults.add(where, f"is {value:g}; expected a positive number.")
        else:
            good[key] = value
    if good.get("candidates", np.inf) < good.get("starts", 1):
        faults.add("fit.candidates", f"{good['candidates']} candidates are fewer than {good['starts']} starts.")
    return good


def _method(value, faults):
    """`"lm"`, or an optimiser of Optax with its arguments: `{optax = "adam", learning_rate = 0.02}`."""
    if value == "lm":
        return value
    if not isinstance(value, dict) or not isinstance(value.get("optax"), str):
        return faults.add(
            "fit.method", f'is {describe(value)}; expected "lm" or `{{optax = "adam", learning_rate = 0.02}}`.'
        )
    import optax

    name, given = value["optax"], {k: v for k, v in value.items() if k != "optax"}
    maker = getattr(optax, name, None)
    if name.startswith("_") or not callable(maker):
        return faults.add("fit.method", f"Optax has no optimiser `{name}`.")
    try:
        made = maker(**given)
    except (TypeError, ValueError) as error:
        return faults.add("fit.method", f"optax.{name} refuses these arguments: {error}.")
    if not hasattr(made, "update"):
        return faults.add("fit.method", f"optax.{name} is not an optimiser.")
    return made
