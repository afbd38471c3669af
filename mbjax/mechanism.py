"""A mechanism: named parts and their numbers. All checks that need no numerical work are made here."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .array import number
from .body import GROUND, AbstractBody
from .connection import COORDINATES, Connection, Driver
from .element import AbstractElement
from .errors import ModelError, did_you_mean, unknown
from .frame import Marker
from .joint import FREE, AbstractRealisation

_MOTION_OF = {c: c.split("_")[0] for c in COORDINATES}
_COMPONENTS = {"x": 0, "y": 1, "z": 2}


class Start(eqx.Module):
    """Joint coordinates and speeds that the initial state must have, by channel: `{"A.spin": 6.0}` (rad, m, 1/s).

    Channels are joint coordinates (`pin.spin`) or components of bodies and planar bodies (`block.position.x`).
    """

    positions: dict[str, np.ndarray] = eqx.field(converter=lambda d: {k: number(v) for k, v in d.items()})
    speeds: dict[str, np.ndarray] = eqx.field(converter=lambda d: {k: number(v) for k, v in d.items()})

    def __init__(self, positions=None, speeds=None):
        self.positions = positions or {}
        self.speeds = speeds or {}


class Mechanism(eqx.Module):
    """Bodies, connections, drivers, force elements and markers, each with a name of its own."""

    name: str = eqx.field(static=True)
    bodies: tuple[AbstractBody, ...] = eqx.field(converter=tuple)
    connections: tuple[Connection, ...] = eqx.field(converter=tuple, default=())
    drivers: tuple[Driver, ...] = eqx.field(converter=tuple, default=())
    elements: tuple[AbstractElement, ...] = eqx.field(converter=tuple, default=())
    markers: tuple[Marker, ...] = eqx.field(converter=tuple, default=())
    start: Start = eqx.field(default_factory=Start)

    def __check_init__(self):
        faults = _faults(self)
        if faults:
            raise ModelError(faults)

    @property
    def parts(self):
        return (*self.bodies, *self.connections, *self.drivers, *self.elements, *self.markers)

    def __getitem__(self, name):
        """The part called `name`."""
        for part in self.parts:
            if part.name == name:
                return part
        names = [p.name for p in self.parts]
        raise KeyError(f"Mechanism `{self.name}` has no part `{name}`.{did_you_mean(name, names)} Parts: {names}.")

    def replace(self, name, new):
        """The mechanism with one part exchanged: a realisation for a connection's, or a whole part of the same kind.

        Frame, name, channels and the rest of the study stay.
        """
        old = self[name]
        if isinstance(new, AbstractRealisation):
            if not isinstance(old, Connection):
                raise ModelError(f"`{name}` is a {type(old).__name__}; only a connection has a realisation.")
            new = Connection(
                old.name, old.frame, bearing=old.bearing, journal=old.journal, realisation=new, stops=old.stops
            )
        if getattr(new, "name", None) != name:
            raise ModelError(f"The replacement of `{name}` is called `{getattr(new, 'name', new)}`; names must stay.")
        return self._rebuilt(lambda part: new if part.name == name else part)

    def with_stops(self, name, stops):
        """The mechanism with other stops on one of its connections."""
        old = self[name]
        if not isinstance(old, Connection):
            raise ModelError(f"`{name}` is a {type(old).__name__}; only a connection has stops.")
        new = Connection(
            old.name, old.frame, bearing=old.bearing, journal=old.journal, realisation=old.realisation, stops=stops
        )
        return self._rebuilt(lambda part: new if part.name == name else part)

    def add(self, *parts):
        """The mechanism with more parts."""
        groups = {field: list(getattr(self, field)) for field in _GROUPS}
        for part in parts:
            for field, kind in _GROUPS.items():
                if isinstance(part, kind):
                    groups[field].append(part)
                    break
            else:
                raise ModelError(f"{part!r} is not a body, connection, driver, element or marker.")
        return Mechanism(self.name, **groups, start=self.start)

    def remove(self, name):
        """The mechanism without one part."""
        self[name]
        groups = {field: [p for p in getattr(self, field) if p.name != name] for field in _GROUPS}
        return Mechanism(self.name, **groups, start=self.start)

    def renamed(self, name):
        """The same mechanism under another name."""
        return _with(self, "name", name)

    def with_start(self, positions=None, speeds=None):
        """The mechanism with other initial joint coordinates and speeds."""
        return _with(self, "start", Start(positions, speeds))

    def _rebuilt(self, change):
        groups = {field: [change(p) for p in getattr(self, field)] for field in _GROUPS}
        return Mechanism(self.name, **groups, start=self.start)

    def value(self, path):
        """The number (array) at a path such as `crank.mass` or `spring.characteristic.stiffness`."""
        node, index = _walk(self, path)
        return node if index is None else node[index]

    def parameters(self, under=""):
        """Paths of all numbers of parts below `under` (a part or a path), each with its shape and unit ("" unknown)."""
        found = {}
        for part in self.parts:
            for path, value, unit in _numbers(part, part.name):
                if not under or path == under or path.startswith(under + "."):
                    found[path] = (np.shape(value), "m or rad" if unit == "Q" else unit)
        return found

    def with_values(self, values):
        """The mechanism with other numbers, `{"crank.mass": 2.0}`; traceable by JAX, so this is how to differentiate
        by a parameter."""
        changed = self
        for path, value in values.items():
            value = value if isinstance(value, jax.Array) else np.asarray(value, dtype=float)
            node, index = _walk(changed, path)
            shape = np.shape(node) if index is None else np.shape(node)[len(index) :]
            if np.shape(value) != shape:
                raise ModelError(f"`{path}` has shape {shape}; the new value has shape {np.shape(value)}.")
            if index is not None:
                value = jnp.asarray(node).at[index].set(value)
            name, *keys = path.split(".")
            part = _changed(changed[name], keys[: len(keys) - len(index or ())], value)
            for field in _GROUPS:
                group = tuple(part if p.name == name else p for p in getattr(changed, field))
                changed = _with(changed, field, group)
        return changed

    def to_toml(self):
        """This mechanism as the text of a model file."""
        from .io.write import to_toml

        return to_toml(self)


_GROUPS = {
    "bodies": AbstractBody,
    "connections": Connection,
    "drivers": Driver,
    "elements": AbstractElement,
    "markers": Marker,
}


def _numbers(node, path, unit=""):
    """Leaves below a node as `(path, value, unit)`."""
    if eqx.is_array(node):
        yield path, node, unit
    elif isinstance(node, tuple):
        for k, item in enumerate(node):
            yield from _numbers(item, f"{path}.{k}", unit)
    elif isinstance(node, eqx.Module):
        for name, field in node.__dataclass_fields__.items():
            inner = path if isinstance(node, Connection) and name == "realisation" else f"{path}.{name}"
            yield from _numbers(getattr(node, name), inner, field.metadata.get("unit", ""))


def _changed(node, keys, value):
    """A copy of a part with the leaf at `keys` exchanged; works on traced values."""
    if not keys:
        return value
    key = keys[0]
    if isinstance(node, tuple):
        k = int(key)
        return (*node[:k], _changed(node[k], keys[1:], value), *node[k + 1 :])
    if isinstance(node, Connection) and not hasattr(node, key):
        return _with(node, "realisation", _changed(node.realisation, keys, value))
    return _with(node, key, _changed(getattr(node, key), keys[1:], value))


def _with(module, field, value):
    """A copy of a frozen module with one field exchanged, without running its checks again."""
    copy = object.__new__(type(module))
    for name in module.__dataclass_fields__:
        object.__setattr__(copy, name, value if name == field else getattr(module, name))
    return copy


def _walk(mechanism, path):
    """The leaf at a path and, where the path ends inside an array, the index there."""
    first, *rest = path.split(".")
    try:
        node = mechanism[first]
    except KeyError as error:
        raise ModelError(f"Path `{path}`: {error.args[0]}") from None
    for depth, key in enumerate(rest):
        if eqx.is_array(node):
            keys = rest[depth:]
            index = tuple(_COMPONENTS.get(k, int(k) if k.isdigit() else -1) for k in keys)
            if len(keys) > node.ndim or not all(0 <= i < n for i, n in zip(index, node.shape, strict=False)):
                raise ModelError(f"Path `{path}`: an array of shape {node.shape} has no component `{'.'.join(keys)}`.")
            return node, index
        if isinstance(node, Connection) and not hasattr(node, key):
            node = node.realisation
        if isinstance(node, tuple) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
            continue
        known = [f for f in getattr(type(node), "__dataclass_fields__", {}) if f != "name"]
        if key not in known:
            raise ModelError(
                f"Path `{path}`: {type(node).__name__} has no `{key}`.{did_you_mean(key, known)} "
                f"Known: {', '.join(known) or 'nothing below it'}."
            )
        node = getattr(node, key)
    if not eqx.is_array(node):
        raise ModelError(f"Path `{path}` leads to {type(node).__name__}, not to a number.")
    return node, None


def _faults(m):
    faults = []
    for field, kind in _GROUPS.items():
        for part in getattr(m, field):
            if not isinstance(part, kind):
                faults.append(f"Mechanism `{m.name}`: {part!r} under `{field}` is not a {kind.__name__}.")
    if faults:
        return faults
    if not m.bodies:
        faults.append(f"Mechanism `{m.name}` has no body.")
    seen = {}
    for part in m.parts:
        kind = type(part).__name__
        if part.name in seen:
            faults.append(f"The name `{part.name}` is used twice ({seen[part.name]} and {kind}); names must differ.")
        if not isinstance(part.name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part.name):
            faults.append(f"{kind} name {part.name!r}: use letters, digits and underscores, starting with a letter.")
        seen[part.name] = kind
    for word in (GROUND, "energy", "constraints"):
        if word in seen:
            faults.append(f"The name `{word}` is reserved; call the {seen[word]} something else.")
    bodies = [b.name for b in m.bodies]
    places = [*bodies, GROUND]
    connections = {c.name: c for c in m.connections}
    for c in m.connections:
        for side in ("bearing", "journal"):
            if getattr(c, side) not in places:
                faults.append(unknown(f"Connection `{c.name}` ({side})", "body", getattr(c, side), places))
    owners = {}
    for d in m.drivers:
        faults.extend(_coordinate_faults(f"Driver `{d.name}`", d.connection, d.coordinate, connections))
        if d.connection in connections:
            owner = connections[d.connection].realisation.motions()[_MOTION_OF[d.coordinate]]
            key = (d.connection, d.coordinate)
            if owner != FREE:
                faults.append(
                    f"Driver `{d.name}`: {_MOTION_OF[d.coordinate]} motion of `{d.connection}` is already {owner} by "
                    f"{type(connections[d.connection].realisation).__name__}; only a free motion can be driven."
                )
            elif key in owners:
                faults.append(f"Drivers `{owners[key]}` and `{d.name}` both drive `{d.connection}.{d.coordinate}`.")
            owners[key] = d.name
    for e in m.elements:
        on_bodies, on_joints = e.attaches_to()
        label = f"{type(e).__name__} `{e.name}`"
        faults.extend(unknown(label, "body", b, places) for b in on_bodies if b not in places)
        if len(on_bodies) == 2 and on_bodies[0] == on_bodies[1]:
            faults.append(f"{label} joins body `{on_bodies[0]}` to itself.")
        for connection, coordinate in on_joints:
            faults.extend(_coordinate_faults(label, connection, coordinate, connections))
    faults.extend(unknown(f"Marker `{k.name}`", "body", k.body, places) for k in m.markers if k.body not in places)
    return faults


def _coordinate_faults(label, connection, coordinate, connections):
    if connection not in connections:
        return [unknown(label, "connection", connection, connections)]
    if coordinate not in COORDINATES:
        near = did_you_mean(coordinate, COORDINATES)
        return [f"{label}: `{coordinate}` is not a joint coordinate.{near} Known: {', '.join(COORDINATES)}."]
    return []
