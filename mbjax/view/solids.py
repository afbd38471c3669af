"""Drawn shapes of bodies. A body has no shape of its own: frame points say what it looks like, inertia how big."""

import numpy as np

from ..rotation import from_matrix


def quaternion(axes):
    """Rotation matrix as (x, y, z, w), the order of three.js."""
    e0, *e = np.asarray(from_matrix(axes)).tolist()
    return [*e, e0]


def equivalent_box(mass, inertia):
    """Edges and axes of the solid box with these moments of inertia; flat and square for a planar body (one moment)."""
    if np.ndim(inertia) == 0:
        edge = np.sqrt(6 * inertia / mass)
        return np.array([edge, edge, 0.0]), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return np.sqrt(np.maximum(6 / mass * (moments.sum() - 2 * moments), 0.0)), axes


def distinct(points, closest):
    """The points without those that repeat another one."""
    kept = []
    for point in points:
        if all(np.linalg.norm(point - other) > closest for other in kept):
            kept.append(point)
    return kept


def body_shapes(points, slides, box, size, thickness):
    """Shapes in body axes: a link through the frame points, a block where the body slides, else a solid like `box`.

    `slides` are (point, axes, edges) of blocks that slide; `box` is what `equivalent_box` gave.
    """
    edges, axes = box
    shapes = [
        {"kind": "box", "at": point.tolist(), "turn": quaternion(frame), "size": list(block)}
        for point, frame, block in slides
    ]
    apart = distinct(points, 0.02 * size)
    arms = [p for p in apart if np.linalg.norm(p) > 0.02 * size]
    if len(apart) == 2 and _off_line(*apart) < 0.02 * size:
        shapes.append(_capsule(*apart, thickness))
    elif len(apart) > 1:
        shapes.extend(_capsule(np.zeros(3), p, thickness) for p in arms)
        shapes.append({"kind": "sphere", "at": [0.0, 0.0, 0.0], "radius": 1.4 * thickness})
    elif not slides:
        shapes.extend(_capsule(np.zeros(3), p, thickness) for p in arms)
        shapes.append(_solid(edges, axes, size, thickness))
    elif arms:
        shapes.append(_capsule(slides[0][0], np.zeros(3), thickness))
    return shapes


def block_edges(edges, size, pair):
    """Edges (h, t, b) of the block drawn for a slider: its pair's, else those of its inertia within reason."""
    if "height" in pair:
        return [0.7 * pair["height"], pair["height"], pair["length"]]
    edge = float(np.clip(np.max(edges), 0.1 * size, 0.25 * size))
    return [edge, edge, 1.5 * edge]


def _off_line(a, b):
    """Distance of the mass centre (the origin) from the segment between two points."""
    along = b - a
    nearest = a + np.clip(-a @ along / (along @ along), 0.0, 1.0) * along
    return np.linalg.norm(nearest)


def _capsule(a, b, radius):
    return {"kind": "capsule", "from": a.tolist(), "to": b.tolist(), "radius": float(radius)}


def _solid(edges, axes, size, thickness):
    flat = edges[2] == 0
    edges = np.clip(edges, 2.5 * thickness, 0.4 * size)
    if flat:  # a disc of the same moment: 1/2 m r^2 = 1/6 m edge^2
        return {
            "kind": "disc",
            "at": [0.0, 0.0, 0.0],
            "radius": float(edges[0] / np.sqrt(3)),
            "length": float(edges[2]),
        }
    if np.ptp(edges) < 0.01 * edges.mean():  # a sphere of the same moment: 2/5 m r^2 = 1/6 m edge^2
        return {"kind": "sphere", "at": [0.0, 0.0, 0.0], "radius": float(edges.mean() * np.sqrt(5 / 12))}
    return {"kind": "box", "at": [0.0, 0.0, 0.0], "turn": quaternion(axes), "size": edges.tolist()}
