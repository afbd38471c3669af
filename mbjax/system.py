"""Assembly: from a mechanism to a system, i.e. its structure (once, in NumPy) and its bound numbers."""

import warnings

import equinox as eqx
import jax
import numpy as np

from .array import require_x64
from .body import GROUND
from .errors import ModelError, ModelWarning
from .interactions import tables as law_tables
from .joint.rows import Custom, Dot, Length, Offset
from .mechanism import Mechanism
from .model import Model, VectorTable, bind, bodies_in_order, connection_rows, poses_at_start
from .redundancy import find_redundant
from .structure import Structure, make_layout, narrow_order


class System(eqx.Module):
    """A mechanism ready to be simulated: static structure and an array leaf for every physical number.

    Change numbers with `system.bind({"crank.mass": 2.0})` or `system.bind(mechanism)`; the structure, and with it
    every compilation, stays.
    """

    structure: Structure = eqx.field(static=True)
    model: Model
    mechanism: Mechanism

    def bind(self, values):
        """The same structure with the numbers of another mechanism, or with some numbers changed by path."""
        mechanism = values if isinstance(values, Mechanism) else self.mechanism.with_values(values)
        _same_parts(self.structure, mechanism)
        check_values(mechanism)
        return System(self.structure, bind(self.structure, mechanism), mechanism)

    @property
    def degrees_of_freedom(self):
        """Mobility: velocities left free by the independent constraints (drivers included)."""
        return self.structure.mobility

    @property
    def redundant(self):
        """Names of the removed rows, `connection: row`."""
        return tuple(self.structure.row_labels[r] for r in self.structure.removed if r not in self.structure.vacuous)

    def summary(self):
        """Sizes, mobility and removed rows in words."""
        s = self.structure
        lines = [
            f"{self.mechanism.name}: {s.spatial} spatial and {s.planar} planar bodies, "
            f"{len(s.connection_names)} connections, {len(s.driver_names)} drivers",
            f"velocities {6 * s.spatial + 3 * s.planar}, independent constraints {len(s.layout.order)}, "
            f"degrees of freedom {s.mobility}",
        ]
        lines.extend(s.notes)
        return "\n".join(lines)


def assemble(mechanism):
    """Work out the structure of a mechanism: index tables, mobility, redundant rows (named, with advice).

    Raises `ModelError` on nonsense; warns (`ModelWarning`) about redundant rows, bodies that hang on nothing and
    mechanisms that cannot move.
    """
    require_x64()
    tables = _tables(mechanism)
    everything = np.arange(len(tables["row_bodies"]))
    draft = Structure(**tables, layout=make_layout(tables["bodies"], tables["row_bodies"], everything, len(everything)))
    model = bind(draft, mechanism)
    found = find_redundant(draft, model)
    kept = [r for r in everything if r not in found.removed]
    order = narrow_order(draft.bodies, draft.row_bodies[kept], draft.row_connections[kept])
    layout = make_layout(draft.bodies, draft.row_bodies, [kept[k] for k in order])
    mobility = 6 * draft.spatial + 3 * draft.planar - len(kept)
    notes = (*found.notes, *_loose_bodies(mechanism))
    if mobility == 0 and not mechanism.drivers:
        notes += (
            f"Mechanism `{mechanism.name}` has no degree of freedom: its {len(kept)} constraints hold every body. "
            "Free a joint, or add a driver if it is meant to be a structure that is driven.",
        )
    for note in notes:
        warnings.warn(note, ModelWarning, stacklevel=2)
    structure = Structure(
        **tables,
        layout=layout,
        removed=tuple(found.removed),
        vacuous=tuple(found.vacuous),
        undetermined=tuple(found.undetermined),
        mobility=mobility,
        notes=notes,
    )
    return System(structure, model, mechanism)


def _tables(mechanism):
    spatial, planar = bodies_in_order(mechanism)
    names = tuple(b.name for b in (*spatial, *planar))
    index = {name: k for k, name in enumerate((*names, GROUND))}
    groups = connection_rows(mechanism, poses_at_start(mechanism))
    sides = [(index[c.bearing], index[c.journal]) for c in mechanism.connections]
    table = VectorTable()
    product_bodies, product_vectors, slides, product_of = [], [], [], []
    length_of, custom_of, custom_labels, product_labels, length_labels = [], [], [], [], []
    for c, (group, (i, j)) in enumerate(zip(groups, sides, strict=True)):
        name = mechanism.connections[c].name
        for row in group:
            if isinstance(row, Offset):
                a = table.direction(c, 0, i, row.direction)
                product_vectors.append((a, table.point(c, 1, j), table.point(c, 0, i)))
                slides.append(1.0)
            elif isinstance(row, Dot):
                product_vectors.append(
                    (table.direction(c, 0, i, row.bearing), table.direction(c, 1, j, row.journal), 0)
                )
                slides.append(0.0)
            elif isinstance(row, Length):
                length_of.append(c)
                length_labels.append(f"{name}: {row.label}")
                continue
            elif isinstance(row, Custom):
                custom_of.append(c)
                custom_labels.extend((c, f"{name}: {label}") for label in row.labels)
                continue
            product_bodies.append((i, j))
            product_of.append(c)
            product_labels.append(f"{name}: {row.label}")
    connection_index = {c.name: k for k, c in enumerate(mechanism.connections)}
    drivers = [connection_index[d.connection] for d in mechanism.drivers]
    row_connections = [*product_of, *length_of, *drivers, *(c for c, _ in custom_labels)]
    labels = [*product_labels, *length_labels]
    labels += [f"{d.name}: {d.connection}.{d.coordinate}" for d in mechanism.drivers]
    labels += [label for _, label in custom_labels]
    connection_bodies = np.array(sides, dtype=np.int64).reshape(-1, 2)
    bodies = len(names)
    laws = law_tables(mechanism, connection_bodies)
    return {
        "body_names": names,
        "spatial": len(spatial),
        "planar": len(planar),
        "bodies": bodies,
        "connection_names": tuple(c.name for c in mechanism.connections),
        "connection_bodies": connection_bodies,
        "vector_bodies": np.array([bodies if b is None else b for b in table.bodies], dtype=np.int64),
        "vector_sources": table.sources(len(sides)),
        "product_vectors": np.array(product_vectors, dtype=np.int64).reshape(-1, 3),
        "product_bodies": np.array(product_bodies, dtype=np.int64).reshape(-1, 2),
        "product_slides": np.array(slides),
        "length_connections": np.array(length_of, dtype=np.int64),
        "custom_connections": tuple(custom_of),
        "driver_names": tuple(d.name for d in mechanism.drivers),
        "driver_connections": tuple(drivers),
        "driver_coordinates": tuple(d.coordinate for d in mechanism.drivers),
        "row_connections": np.array(row_connections, dtype=np.int64),
        "row_bodies": connection_bodies[np.array(row_connections, dtype=np.int64)].reshape(-1, 2),
        "row_labels": tuple(labels),
        "driver_rows": (len(product_labels) + len(length_labels), len(drivers)),
        "element_names": tuple(e.name for e in mechanism.elements),
        "marker_names": tuple(m.name for m in mechanism.markers),
        "marker_bodies": np.array([index[m.body] for m in mechanism.markers], dtype=np.int64),
        "counts_energy": bool(drivers or laws["law_connections"])
        or any(e.attaches_to() != ((), ()) for e in mechanism.elements),
        **laws,
    }


def check_values(mechanism):
    """Run the checks of all parts again: values changed by path have not been through them. Traced values pass."""
    faults = []
    for part in mechanism.parts:
        for node in _modules(part):
            for cls in type(node).__mro__:
                if "__check_init__" in vars(cls):
                    try:
                        # Numbers that are known stay known while something else is being traced.
                        with jax.ensure_compile_time_eval():
                            cls.__check_init__(node)
                    except ValueError as error:
                        faults.append(f"`{part.name}`: {error}")
    if faults:
        raise ModelError(faults)


def _modules(node):
    if isinstance(node, tuple):
        for item in node:
            yield from _modules(item)
    elif isinstance(node, eqx.Module):
        yield node
        for name in node.__dataclass_fields__:
            yield from _modules(getattr(node, name))


def _loose_bodies(mechanism):
    if not mechanism.connections:
        return ()
    held = {b for c in mechanism.connections for b in (c.bearing, c.journal)}
    held |= {b for e in mechanism.elements for b in e.attaches_to()[0]}
    return tuple(
        f"Body `{b.name}` hangs on nothing: no connection and no force element between bodies refers to it."
        for b in mechanism.bodies
        if b.name not in held
    )


def _same_parts(structure, mechanism):
    tables = _tables(mechanism)
    for name, table in tables.items():
        old = getattr(structure, name)
        same = np.array_equal(old, table) if isinstance(table, np.ndarray) else old == table
        if not same:
            raise ValueError(
                f"This mechanism has another structure ({name} differ) than the system: assemble it instead of binding."
            )
