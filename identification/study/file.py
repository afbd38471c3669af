"""What all study files share: sections, models, units of paths."""

import pathlib
import re
import tomllib
import warnings

import numpy as np

import mbjax as mb
from mbjax.io.dimensions import FIELDS
from mbjax.io.faults import Faults, describe, join
from mbjax.observe import channels

from ..quantity import read_number

TOP = ("model", "parameters", "sensors", "experiments", "fit", "times", "sweep", "sensitivity")


def read_toml(path):
    """The path, a collector of faults, and the table of a study file whose sections are known."""
    path = pathlib.Path(path)
    faults = Faults(str(path))
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise mb.ModelError(f"{path}: the study cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise mb.ModelError(f"{path}: this is not a text file in UTF-8; a study is TOML text.") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise mb.ModelError(f"{path}{':' + line[1] if line else ''}: not valid TOML: {error}.") from None
    faults.unknown_keys("", data, TOP)
    return path, faults, data


def tables(data, key, faults):
    table = data.get(key)
    if not isinstance(table, dict) or not table:
        faults.add(key, f"at least one table is needed, such as `[{key}.{'run' if key == 'experiments' else 'name'}]`.")
        return []
    good = []
    for name, value in table.items():
        if isinstance(value, dict):
            good.append((name, value))
        else:
            faults.add(join(key, name), f"is {describe(value)}; expected a table.")
    return good


def read_model(name, key, path, faults):
    if not isinstance(name, str):
        faults.missing("", key, '"model.toml"')
        return None
    try:
        return mb.load(path.parent / name)
    except ValueError as error:
        for message in getattr(error, "faults", [str(error)]):
            faults.messages.append(message)
        return None


def channel_units(mechanism):
    """The unit of every channel by its name; none where there is no mechanism, or one that does not assemble (the
    problem says why)."""
    if mechanism is None:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the problem assembles it again and warns
            structure = mb.assemble(mechanism).structure
    except ValueError:
        return {}
    return {name: channel.unit for name, channel in channels(structure).items()}


def unit_of(mechanism, path):
    """The unit of a number, or of the array whose component it is; "" where it depends on the place."""
    name, *keys = path.split(".")
    node = mechanism[name]
    for key in keys:
        unit = FIELDS.get(type(node), {}).get(key, "")
        if unit and not re.search(r"[QFY{]", unit):
            return unit
        node = getattr(node, key, None)
    whole = path
    while whole:
        found = mechanism.parameters(whole).get(whole)
        if found is not None:
            return found[1]
        whole = whole.rpartition(".")[0]
    return ""


def read_times(table, where, faults):
    """Output times: `{end = "0.5 s", outputs = 501}`, from `start` (0)."""
    if not isinstance(table, dict):
        return faults.add(where, f'is {describe(table)}; give `end = "0.5 s"` and `outputs = 501`.')
    faults.unknown_keys(where, table, ("start", "end", "outputs"))
    if "end" not in table:
        return faults.missing(where, "end", '"0.5 s"')
    ends = [read_number(table.get(k, 0.0), "s", join(where, k), faults) for k in ("start", "end")]
    outputs = table.get("outputs", 101)
    if isinstance(outputs, bool) or not isinstance(outputs, int) or outputs < 2:
        return faults.add(join(where, "outputs"), f"is {describe(outputs)}; expected a whole number of at least 2.")
    if None in ends:
        return None
    if not ends[0] < ends[1]:
        return faults.add(where, f"the end {ends[1]:g} s must lie after the start {ends[0]:g} s.")
    return np.linspace(*ends, outputs)
