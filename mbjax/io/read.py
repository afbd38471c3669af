"""Reading model files. All faults of a file are reported together, each with its key and a cure."""

import pathlib
import re
import tomllib
from typing import NamedTuple

from ..body import GROUND, PlanarBody, SpatialBody
from ..connection import Connection, Driver
from ..contact.stop import Stop
from ..element import AbstractElement
from ..errors import ModelError, did_you_mean
from ..frame import Frame, Marker, Placement, frame
from ..joint import AbstractRealisation, Free
from ..mechanism import Mechanism, Start
from .dimensions import COORDINATE
from .faults import Faults, describe, join
from .reader import Reader
from .settings import Settings

_BODIES = {"spatial": SpatialBody, "planar": PlanarBody}
_PLACEMENT = ("point", "axis", "reference")
_SIDES = ("bearing_frame", "journal_frame")
_BODY_CHANNELS = {
    SpatialBody: {"position.x": "m", "position.y": "m", "position.z": "m"},
    PlanarBody: {"x": "m", "y": "m", "angle": "rad"},
}


class Document(NamedTuple):
    """A model file: the mechanism, and what the command line is told about its simulation."""

    mechanism: Mechanism
    settings: Settings


def load(path):
    """The mechanism in a model file."""
    return load_document(path).mechanism


def loads(text, source_name="model text", folder="."):
    """The mechanism in the text of a model file; tables in CSV files are looked for in `folder`."""
    return parse(text, source_name, folder).mechanism


def load_document(path):
    """Mechanism and simulation settings of a model file."""
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: the model file cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: this is not a text file in UTF-8; a model file is TOML text.") from None
    return parse(text, str(path), path.parent)


def parse(text, source_name, folder):
    """Mechanism and simulation settings of the text of a model file."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{source_name}:{line[1]}" if line else source_name
        raise ModelError(f"{where}: not valid TOML: {error}.") from None
    return _Parts(data, Faults(source_name), pathlib.Path(folder)).document()


class _Parts:
    """The parts of one file; a part with faults is None."""

    def __init__(self, data, faults, folder):
        self.data, self.faults = data, faults
        self.reader = Reader(faults, folder)

    def document(self):
        readers = {
            "bodies": self._body,
            "connections": self._connection,
            "drivers": self._driver,
            "elements": self._element,
            "markers": self._marker,
        }
        self.faults.unknown_keys("", self.data, ["name", *readers, "start", "simulation"])
        name = self.data.get("name", "")
        if not name or not isinstance(name, str):
            self.faults.missing("", "name", '"my_mechanism"')
        self.built, self.realisations = {}, {}
        for group, read in readers.items():
            tables = self._section(group)
            self.built[group] = {}
            for part, table in tables.items():
                self.reader.part = (group, part)
                self.built[group][part] = read(part, table, join(group, part))
        if "bodies" not in self.data:
            self.faults.add("bodies", "missing; a mechanism needs at least one section `[bodies.name]`.")
        start = self._start()
        settings = self.reader.build(Settings, self._section("simulation"), "simulation", {})
        self._check_references()
        if not self.faults.messages:
            mechanism = self._assembled(str(name), start)
        elif self.built["bodies"]:
            self._check_rest()
        self.faults.raise_any()
        return Document(mechanism, settings)

    def _section(self, group):
        section = self.data.get(group, {})
        if not isinstance(section, dict):
            self.faults.add(group, f"is {describe(section)}; expected sections such as `[{group}.name]`.")
            return {}
        return section

    def _table(self, table, path):
        if not isinstance(table, dict):
            self.faults.add(path, f"is {describe(table)}; expected a section `[{path}]`.")
        return isinstance(table, dict)

    def _body(self, name, table, path):
        if not self._table(table, path):
            return None
        kind = self._kind_of(table)
        if kind is None:
            return self.faults.choice(join(path, "kind"), table["kind"], "a kind of body", _BODIES)
        return self.reader.build(kind, {k: v for k, v in table.items() if k != "kind"}, path, {}, name=name)

    def _connection(self, name, table, path):
        if not self._table(table, path):
            return None
        before = len(self.faults.messages)
        self.faults.unknown_keys(path, table, ["bearing", "journal", "realisation", "stops", *_PLACEMENT, *_SIDES])
        sides = {"bearing": GROUND, **{k: table[k] for k in ("bearing", "journal") if k in table}}
        for side, body in sides.items():
            if isinstance(body, str):
                self.reader.refer(join(path, side), "body", body)
            else:
                self.faults.add(join(path, side), f"is {describe(body)}; expected the name of a body.")
        if "journal" not in table:
            self.faults.missing(path, "journal", '"name of a body"')
        placed = self._frame(table, path)
        if "realisation" not in table:
            self.faults.missing(path, "realisation", '"Revolute"')
        else:
            where = join(path, "realisation")
            realisation = self.reader.choose(AbstractRealisation, table["realisation"], where, {})
            self.realisations[name] = realisation
        stops = table.get("stops", [])
        if not isinstance(stops, list):
            self.faults.add(join(path, "stops"), f"is {describe(stops)}; expected a list [{{coordinate = ...}}].")
            stops = []
        where = join(path, "stops")
        stops = [self.reader.build(Stop, stop, join(where, k), {}) for k, stop in enumerate(stops)]
        if len(self.faults.messages) > before:
            return None
        values = {"name": name, "frame": placed, "realisation": realisation, "stops": stops, **sides}
        return self.reader.make(Connection, values, path)

    def _frame(self, table, path):
        common = {k: table[k] for k in _PLACEMENT if k in table}
        given = [k for k in _SIDES if k in table]
        if not given:
            placement = self.reader.build(Placement, common, path, {}, in_body=False)
            return placement and Frame(placement, placement)
        for key in common:
            self.faults.add(
                join(path, key), "give either one frame (point, axis, reference) or one per body (`bearing_frame`, "
                "`journal_frame`), not both."
            )  # fmt: skip
        for key in _SIDES:
            if key not in table:
                self.faults.missing(path, key, "{point = [x, y, z], axis = [x, y, z], in_body = true}")
        sides = [self.reader.build(Placement, table[k], join(path, k), {}) for k in given]
        return Frame(*sides) if len(sides) == 2 and None not in sides else None

    def _driver(self, name, table, path):
        return self.reader.build(Driver, table, path, {}, name=name)

    def _element(self, name, table, path):
        return self.reader.choose(AbstractElement, table, path, {}, name=name)

    def _marker(self, name, table, path):
        if not self._table(table, path):
            return None
        before = len(self.faults.messages)
        body = table.get("body")
        if not isinstance(body, str):
            self.faults.missing(path, "body", '"name of a body"')
        else:
            self.reader.refer(join(path, "body"), "body", body)
        rest = {"in_body": True, **{k: v for k, v in table.items() if k != "body"}}
        p = self.reader.build(Placement, rest, path, {})
        if len(self.faults.messages) > before:
            return None
        return Marker(name, body, p.point, p.axis, p.reference, in_body=p.in_body)

    def _start(self):
        section = self._section("start")
        self.faults.unknown_keys("start", section, ["positions", "speeds"])
        found = {}
        for key, rate in (("positions", ""), ("speeds", "/s")):
            values = section.get(key, {})
            path = join("start", key)
            if not isinstance(values, dict):
                self.faults.add(path, f'is {describe(values)}; expected such as `{{"pin.spin" = "30 deg"}}`.')
                continue
            found[key] = {}
            for channel, raw in _flat(values):
                unit = self._channel_unit(channel, join(path, channel))
                if channel in found[key]:
                    self.faults.add(join(path, channel), "is given twice; keep one of them.")
                if isinstance(raw, list):
                    self.faults.add(join(path, channel), f"is {describe(raw)}; expected one number or quantity.")
                    continue
                found[key][channel] = self.reader.numbers(raw, unit and unit + rate, join(path, channel))
        return found

    def _channel_unit(self, channel, path):
        part, _, component = channel.partition(".")
        bodies = self.built["bodies"]
        if part in bodies:
            kind = self._kind_of(self.data["bodies"][part])
            if kind is None:
                return None
            known = _BODY_CHANNELS[kind]
        elif part in self.built["connections"]:
            known = {c: symbols["Q"] for c, symbols in COORDINATE.items()}
        else:
            names = [*bodies, *self.built["connections"]]
            return self.faults.add(
                path, f"no body or connection `{part}`.{did_you_mean(part, names)} Known: {', '.join(names)}."
            )
        if component not in known:
            self.faults.choice(path, component, f"a value that `{part}` can start with", list(known))
        return known.get(component)

    def _kind_of(self, table):
        """The class of a body, also where the body itself has faults."""
        kind = table.get("kind", "spatial") if isinstance(table, dict) else None
        return _BODIES[kind] if kind in list(_BODIES) else None

    def _check_references(self):
        places = [*self.built["bodies"], GROUND]
        connections = list(self.built["connections"])
        for (group, part), path, what, name in self.reader.references:
            known = places if what == "body" else connections
            if name not in known:
                self.faults.add(
                    path, f"there is no {what} `{name}`.{did_you_mean(name, known)} Known: {', '.join(known)}."
                )
                self.built[group][part] = None

    def _check_rest(self):
        """What the mechanism itself checks, with stand-ins for parts that have faults already."""
        bodies = {n: b or SpatialBody(n, 1.0, (1.0, 1.0, 1.0)) for n, b in self.built["bodies"].items()}
        some = next(iter(bodies))
        self.built["bodies"] = bodies
        self.built["connections"] = {
            n: c or Connection(n, frame(), journal=some, realisation=self.realisations.get(n) or Free())
            for n, c in self.built["connections"].items()
        }
        self._assembled("stand_in", {})

    def _assembled(self, name, start):
        groups = {g: [p for p in parts.values() if p is not None] for g, parts in self.built.items()}
        try:
            return Mechanism(name, **groups, start=Start(**start))
        except ModelError as error:
            for message in error.faults:
                self.faults.add(self._path_of(message), message)
            return None

    def _path_of(self, message):
        """The section of the first part that a message names."""
        for word in re.findall(r"`(\w+)`|name '(.*?)':", message):
            for group, parts in self.built.items():
                if (word[0] or word[1]) in parts:
                    return join(group, word[0] or word[1])
        return ""


def _flat(table, before=""):
    """`pin.spin = 1` without quotes is a nested table in TOML: put the channel name together again."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value
