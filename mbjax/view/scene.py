"""From a trajectory to plain data for the page: bodies, joints, forces and channels at a bounded number of times."""

import jax
import numpy as np

from ..element import Gravity, SpringDamper
from ..frame import point_in_body
from ..model import poses_at_start
from ..observe import channels, find_channel, snapshots
from ..rotation import from_matrix
from .joints import drawn_as, slides
from .solids import block_edges, body_shapes, equivalent_box, quaternion

_OFFERED = (
    ".position.x", ".position.y", ".position.z", ".velocity.x", ".velocity.y", ".velocity.z", ".angle", ".spin",
    ".spin_rate", ".axial", ".axial_rate", ".radial", ".tilt", ".reaction.x", ".reaction.y", ".reaction.z",
    ".penetration", ".force", ".kinetic", ".potential", ".total", ".balance",
)  # fmt: skip
_MOST = 150  # channels that are offered when none are asked for


def make_scene(trajectory, names=None, frames=600):
    """The scene of a trajectory as plain data (what `json.dumps` takes), in SI units and global axes.

    `names` are the channels to plot (a choice by default); at most `frames` times are kept, evenly spread over the
    outputs. Times that a failed run did not reach are left out; single numbers that are not finite become None.
    """
    system = trajectory.system
    structure, mechanism = system.structure, system.mechanism
    names = [names] if isinstance(names, str) else names
    if names is not None:
        for name in names:
            find_channel(structure, name)
    if frames < 1:
        raise ValueError(f"view: frames = {frames}; at least one is needed.")
    times, rows = _rows(trajectory, frames)
    seen = snapshots(system, jax.tree.map(lambda x: x[rows], trajectory.states), trajectory.ts[rows])
    ends = _frame_points(system, seen)
    kinds = [drawn_as(c.realisation) for c in mechanism.connections]
    boxes = _boxes(system)
    size, thickness = _sizes(seen, ends, boxes)
    shapes = _shapes(system, kinds, boxes, size, thickness)
    springs = _springs(mechanism, structure)
    gravity = [np.asarray(e.acceleration) for e in mechanism.elements if isinstance(e, Gravity)]
    normal, up = _directions(mechanism, gravity)
    return {
        "name": mechanism.name,
        "success": bool(trajectory.result.success),
        "message": trajectory.result.message,
        "size": float(size),
        "thickness": float(thickness),
        **_extent(seen, ends, springs, shapes),
        "up": up,
        "normal": normal,  # of the plane of a planar mechanism, else None
        "times": [float(f"{t:.12g}") for t in times],
        "bodies": _bodies(structure, seen, shapes),
        "joints": _joints(system, seen, ends, kinds, boxes, size),
        "springs": springs,
        "markers": _markers(system),
        **_plots(structure, seen, kinds, names),
    }


def _rows(trajectory, frames):
    """Times with a finite state, thinned to `frames`, and their rows."""
    times = np.asarray(trajectory.ts)
    if times.ndim != 1:
        raise ValueError(f"view: the times have shape {times.shape}: take one run of the batch with `jax.tree.map`.")
    state = [np.asarray(x).reshape(times.size, -1) for x in jax.tree.leaves((trajectory.states.q, trajectory.states.v))]
    good = np.isfinite(times) & np.all([np.isfinite(x).all(axis=1) for x in state], axis=0)
    rows = np.flatnonzero(good)
    if not rows.size:
        raise ValueError(f"view: there is no state to show: {trajectory.result.message}.")
    if rows.size > frames:
        rows = rows[np.round(np.linspace(0, rows.size - 1, frames)).astype(int)]
    return times[rows], rows


def _frame_points(system, seen):
    """Of every connection: frame points and axes of bearing and journal over time, global axes."""
    structure, model = system.structure, system.model
    count = len(seen.position)
    position = np.concatenate([np.asarray(seen.position), np.zeros((count, 1, 3))], axis=1)
    turn = np.concatenate([np.asarray(seen.orientation), np.broadcast_to(np.eye(3), (count, 1, 3, 3))], axis=1)
    ends = []
    for c, (i, j) in enumerate(structure.connection_bodies):
        sides = ((i, model.bearing_point, model.bearing_axes), (j, model.journal_point, model.journal_axes))
        ends.append([(position[:, b] + turn[:, b] @ np.asarray(p)[c], turn[:, b] @ np.asarray(a)[c])
                     for b, p, a in sides])  # fmt: skip
    return ends


def _boxes(system):
    structure, model = system.structure, system.model
    inertia = [*np.asarray(model.inertia), *np.asarray(model.planar_inertia)]
    mass = np.asarray(model.mass)
    return [equivalent_box(mass[k], inertia[k]) for k in range(structure.bodies)]


def _sizes(seen, ends, boxes):
    """Size of the mechanism (m), and the radius of its links."""
    points = np.concatenate([np.asarray(seen.position)[0], *(e[0][0][:1] for e in ends), *(e[1][0][:1] for e in ends)])
    size = np.linalg.norm(np.ptp(points, axis=0))
    size = size if size > 0 else 2 * max(edges.max() for edges, _ in boxes)
    arms = [np.linalg.norm(points[None] - points[:, None], axis=-1)]
    near = np.array([d[d > 0.01 * size].min(initial=size) for d in arms[0]])
    return size, min(0.018 * size, 0.12 * float(np.median(near)) * 2)


def _shapes(system, kinds, boxes, size, thickness):
    structure, model = system.structure, system.model
    sides = structure.connection_bodies
    found = []
    for k in range(structure.bodies):
        points, rails = [], []
        for c, (i, j) in enumerate(sides):
            if i == k and not slides(kinds[c][0]):
                points.append(np.asarray(model.bearing_point)[c])
            if j == k:
                points.append(np.asarray(model.journal_point)[c])
                if slides(kinds[c][0]):
                    block = block_edges(boxes[k][0], size, kinds[c][1])
                    rails.append((points[-1], np.asarray(model.journal_axes)[c], block))
        found.append(body_shapes(points, rails, boxes[k], size, thickness))
    return found


def _directions(mechanism, gravity):
    """Normal of the plane if all bodies move in parallel ones, and what is drawn upwards."""
    planes = [np.asarray(b.plane()) for b in mechanism.bodies if "plane_x" in b.__dataclass_fields__]
    flat = len(planes) == len(mechanism.bodies) and all(np.allclose(p[:, 2], planes[0][:, 2]) for p in planes)
    up = planes[0][:, 1] if flat else np.array([0.0, 0.0, 1.0])
    pull = np.sum(gravity, axis=0) if gravity else np.zeros(3)
    if np.linalg.norm(pull) > 0:
        up = -pull / np.linalg.norm(pull)
    if flat and abs(up @ planes[0][:, 2]) > 0.9:  # gravity across the plane
        up = planes[0][:, 1]
    return (planes[0][:, 2].tolist() if flat else None), up.tolist()


def _extent(seen, ends, springs, shapes):
    """Where the motion goes: its outermost points in 26 directions, and how far shapes reach around them."""
    centres = np.asarray(seen.position)
    points = [centres.reshape(-1, 3), *(side[0] for e in ends for side in e)]
    for spring in springs:
        for body, point in spring["ends"]:
            here = np.asarray(seen.orientation)[:, body] @ point + centres[:, body] if body >= 0 else [point]
            points.append(np.asarray(here))
    points = np.concatenate(points)
    directions = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3)
    outer = np.unique(points[np.argmax(points @ directions.T, axis=0)], axis=0)
    reach = max(0.5 * max(s["size"]) if s["kind"] == "box" else s["radius"] for group in shapes for s in group)
    return {"outline": _plain(outer), "reach": float(reach)}


def _bodies(structure, seen, shapes):
    turns = _quaternions(np.asarray(seen.orientation))
    return [
        {"name": name, "position": _plain(seen.position[:, k]), "turn": _plain(turns[:, k]), "shapes": shapes[k]}
        for k, name in enumerate(structure.body_names)
    ]


def _quaternions(matrices):
    """(..., 3, 3) to (..., 4) in the order x, y, z, w."""
    flat = jax.vmap(from_matrix)(matrices.reshape(-1, 3, 3))
    return np.roll(np.asarray(flat), -1, axis=-1).reshape(*matrices.shape[:-2], 4)


def _joints(system, seen, ends, kinds, boxes, size):
    structure, model = system.structure, system.model
    found = []
    for c, connection in enumerate(system.mechanism.connections):
        (base, axes), (tip, journal) = ends[c]
        apart = np.einsum("nji,nj->ni", axes, tip - base)
        turn = _quaternions(np.einsum("nji,njk->nik", axes, journal))
        kind, sizes, small = kinds[c]
        i, j = (int(b) if b < structure.bodies else -1 for b in structure.connection_bodies[c])
        # Points of stops come last; their depth may be an angle.
        own = np.flatnonzero(structure.point_connections == c)[: sum(x.points for x in connection.realisation.laws())]
        joint = {
            "name": connection.name,
            "bearing": i,  # index of the body, -1 is the ground
            "journal": j,
            "kind": kind,
            "sizes": sizes,
            "magnified": small,
            "at": np.asarray(model.bearing_point)[c].tolist(),
            "axes": quaternion(np.asarray(model.bearing_axes)[c]),
            "displacement": _plain(apart),  # of the journal, in bearing axes
            "turn": _plain(turn),
            "force": _plain(seen.reaction[:, c]),  # bearing on journal, global axes
            "depth": _plain(np.max(np.asarray(seen.point_depth)[:, own], axis=1)) if own.size else None,
        }
        if slides(kind):
            joint["block"] = block_edges(boxes[j if j >= 0 else i][0], size, sizes)
        found.append(joint)
    return found


def _springs(mechanism, structure):
    poses = poses_at_start(mechanism)
    index = {name: k for k, name in enumerate(structure.body_names)}
    return [
        {
            "name": e.name,
            "ends": [
                [index.get(body, -1), np.asarray(point_in_body(point, e.in_body, *poses[body])).tolist()]
                for body, point in ((e.body_1, e.point_1), (e.body_2, e.point_2))
            ],
        }
        for e in mechanism.elements
        if isinstance(e, SpringDamper)
    ]


def _markers(system):
    structure = system.structure
    bodies = [int(b) if b < structure.bodies else -1 for b in structure.marker_bodies]
    points = np.asarray(system.model.marker_point).tolist()
    return [{"name": n, "body": b, "at": p} for n, b, p in zip(structure.marker_names, bodies, points, strict=True)]


def _plots(structure, seen, kinds, names):
    """Channels with values, and the names of those that are plotted first."""
    known = channels(structure)
    offered = [name for name in known if name.endswith(_OFFERED)][:_MOST]
    values = {name: np.asarray(known[name].take(seen)) for name in dict.fromkeys([*(names or ()), *offered])}
    data = [{"name": n, "unit": known[n].unit, "values": _plain(v)} for n, v in values.items()]
    return {"channels": data, "shown": list(names) if names else _first_choice(structure, kinds, values)}


def _first_choice(structure, kinds, values):
    """Position of the last body, force in the joint with the most to tell, and its penetration."""

    def liveliest(prefix):
        trio = [n for n in (f"{prefix}.{c}" for c in "xyz") if n in values and np.isfinite(values[n]).all()]
        return [max(trio, key=lambda n: np.ptp(values[n]))] if trio else []

    chosen = liveliest(f"{structure.body_names[-1]}.position") if structure.body_names else []
    if structure.connection_names:
        play = [n for n, k in zip(structure.connection_names, kinds, strict=True) if any(k[2])]
        joint = (play or structure.connection_names)[0]
        chosen += [n for n in (*liveliest(f"{joint}.reaction"), f"{joint}.penetration") if n in values]
    return chosen


def _plain(values):
    """Nested lists with seven digits; what is not finite becomes None."""
    values = np.asarray(values, dtype=float)
    flat = [float(f"{x:.7g}") if np.isfinite(x) else None for x in values.ravel().tolist()]
    for width in values.shape[:0:-1]:
        flat = [flat[k : k + width] for k in range(0, len(flat), width)]
    return flat
