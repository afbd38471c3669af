"""The frame of a connection: a point, an axis and two cross directions on each of the two bodies (P1 figure 1)."""

import equinox as eqx
import numpy as np

from . import rotation
from .array import is_concrete, optional, vector


class Placement(eqx.Module):
    """A point with axes (h, t, b): b along `axis`, h along the part of `reference` normal to it.

    Given in global coordinates at t0, or in body coordinates (`in_body=True`).
    """

    point: np.ndarray = eqx.field(converter=vector)  # m
    axis: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 1.0))
    reference: np.ndarray | None = eqx.field(converter=optional(vector), default=None)
    in_body: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        if is_concrete(self.axis) and not np.linalg.norm(self.axis) > 0:
            raise ValueError("A frame's axis is a zero vector.")
        if self.reference is not None and is_concrete(self.axis, self.reference):
            across = np.linalg.norm(np.cross(self.axis, self.reference))
            parallel = across <= 1e-9 * np.linalg.norm(self.axis)
            if parallel:
                raise ValueError(
                    f"A frame's reference direction {np.asarray(self.reference).tolist()} must not be zero or parallel "
                    f"to its axis {np.asarray(self.axis).tolist()}."
                )

    def in_body_axes(self, position, orientation):
        """Point and axes (columns h, t, b) in the coordinates of a body at `position`, `orientation` (t0)."""
        reference = rotation.some_normal(self.axis) if self.reference is None else self.reference
        axes = rotation.axes(self.axis, reference)
        if self.in_body:
            return self.point, axes
        return rotation.unrotate(orientation, self.point - position), orientation.T @ axes


class Frame(eqx.Module):
    """Where a connection sits: one placement on the bearing (socket, hole), one on the journal (ball, pin)."""

    bearing: Placement
    journal: Placement


def frame(point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), reference=None):
    """A frame at one global point with one global axis at t0, shared by both bodies (as CAD gives it)."""
    placement = Placement(point, axis, reference)
    return Frame(placement, placement)


def frame_on_bodies(
    bearing_point,
    journal_point,
    *,
    bearing_axis=(0.0, 0.0, 1.0),
    journal_axis=(0.0, 0.0, 1.0),
    bearing_reference=None,
    journal_reference=None,
):
    """A frame given in the coordinates of each body."""
    return Frame(
        Placement(bearing_point, bearing_axis, bearing_reference, in_body=True),
        Placement(journal_point, journal_axis, journal_reference, in_body=True),
    )


class Marker(eqx.Module):
    """A named point with axes on a body, with channels position, velocity, acceleration and angular rate."""

    name: str = eqx.field(static=True)
    body: str = eqx.field(static=True)
    placement: Placement

    def __init__(self, name, body, point, axis=(0.0, 0.0, 1.0), reference=None, *, in_body=True):
        self.name = name
        self.body = body
        self.placement = Placement(point, axis, reference, in_body=in_body)


def point_in_body(point, in_body, position, orientation):
    """Body coordinates of a point that is given in body coordinates or globally at t0."""
    return point if in_body else rotation.unrotate(orientation, point - position)
