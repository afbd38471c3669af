"""Exudyn on P3's four-bar with spherical clearance and friction: a tree of five coordinates, and rigid bodies."""

import exudyn.itemInterface as items
import numpy as np
from exudyn.rigidBodyUtilities import RigidBodyInertia

from . import four_bar_clearance as p3
from .exudyn_contact import KINDS, exu, fastest, hollow_sphere, kinematic_tree, on_link, sensors_of, simulate

NODES = {
    "rotation vector": exu.NodeType.RotationRotationVector,
    "Euler parameters": exu.NodeType.RotationEulerParameters,
}
REFERENCE = ("DOPRI5", 1e10, 1.0)  # solver, one over the tolerance, and N by which touches may be late
# Tighter tolerances than 1e-10 stall at the kinks of the friction.
EFFORTS = {"DOPRI5": (1e3, 1e10), "RK44": (5000, 1.6e5)}


def tree(mbs):
    """Crank, coupler on three hinges at the crank's pin (two massless links), rocker."""
    kind, none, zero = exu.JointType, np.zeros((3, 3)), np.zeros(3)
    links = [
        (kind.RevoluteX, -1, zero, p3.MASSES[0], p3.INERTIAS[0], p3.CENTRES[0]),
        (kind.RevoluteX, 0, p3.CRANK_PIN, 0.0, none, zero),
        (kind.RevoluteY, 1, zero, 0.0, none, zero),
        (kind.RevoluteZ, 2, zero, p3.MASSES[1], p3.INERTIAS[1], p3.CENTRES[1] - p3.CRANK_PIN),
        (kind.RevoluteY, -1, p3.ROCKER_PIVOT, p3.MASSES[2], p3.INERTIAS[2], p3.CENTRES[2] - p3.ROCKER_PIVOT),
    ]
    node, number = kinematic_tree(mbs, links, [0.0] * 5, p3.GRAVITY)
    ball, socket = on_link(mbs, number, 4, p3.JOINT - p3.ROCKER_PIVOT), on_link(mbs, number, 3, p3.JOINT - p3.CRANK_PIN)
    hollow_sphere(mbs, ball, socket, p3, p3.FRICTION, p3.SLOPE)
    return [sensors_of(mbs, node, KINDS.Coordinates, KINDS.Coordinates_t)]


def positions_of_tree(coordinates):
    """Centres of coupler and rocker (times, 6) from the angles (times, 5)."""
    a, b, c, d, e = coordinates.T
    x, y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    pin = _turned(x, a, p3.CRANK_PIN)
    arm = _turned(np.array([0, 0, 1.0]), d, p3.CENTRES[1] - p3.CRANK_PIN)
    coupler = pin + _turned(x, a + b, _turned(y, c, arm))
    rocker = p3.ROCKER_PIVOT + _turned(y, e, p3.CENTRES[2] - p3.ROCKER_PIVOT)
    return np.concatenate([coupler, rocker], axis=1)


def _turned(axis, angles, vectors):
    """Vectors (3,) or (times, 3) turned about an axis by angles (times,)."""
    vectors = np.broadcast_to(vectors, (angles.size, 3))
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return cos * vectors + sin * np.cross(axis, vectors) + (1 - cos) * (vectors @ axis)[:, None] * axis


def rigid_bodies(node_type):
    """Builder of three rigid bodies with 13 constraints."""

    def build(mbs):
        bodies = [
            mbs.CreateRigidBody(
                referencePosition=p3.CENTRES[k],
                gravity=p3.GRAVITY,
                inertia=RigidBodyInertia(mass=p3.MASSES[k], inertiaTensor=p3.INERTIAS[k]),
                nodeType=node_type,
            )
            for k in range(3)
        ]
        ground = mbs.CreateGround()

        def marker(number, place):
            return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=number, localPosition=place))

        def joint(pair, axes):
            mbs.AddObject(items.GenericJoint(markerNumbers=pair, constrainedAxes=axes))

        crank, coupler, rocker = bodies
        zero = np.zeros(3)
        joint([marker(ground, zero), marker(crank, zero)], [1, 1, 1, 0, 1, 1])
        joint([marker(ground, p3.ROCKER_PIVOT), marker(rocker, p3.ROCKER_PIVOT - p3.CENTRES[2])], [1, 1, 1, 1, 0, 1])
        pins = [marker(crank, p3.CRANK_PIN), marker(coupler, p3.CRANK_PIN - p3.CENTRES[1])]
        mbs.AddObject(items.SphericalJoint(markerNumbers=pins))
        ball, socket = (marker(body, p3.JOINT - p3.CENTRES[k]) for body, k in ((rocker, 2), (coupler, 1)))
        hollow_sphere(mbs, ball, socket, p3, p3.FRICTION, p3.SLOPE)
        nodes = [mbs.GetObject(body)["nodeNumber"] for body in (coupler, rocker)]
        return [sensors_of(mbs, node, KINDS.Position, KINDS.Velocity) for node in nodes]

    return build


def reference():
    """Exudyn's own converged positions: its friction differs from Threlfall's."""
    solver, effort, late = REFERENCE
    return positions_of_tree(simulate(tree, p3, solver, effort, late)[1])


def measure(formulation, solver, limit, repeats):
    """The fastest setting whose error against Exudyn's own converged run is within `limit`."""
    expected = reference()
    is_tree = formulation == "tree"
    build = tree if is_tree else rigid_bodies(NODES[formulation])

    def error(found):
        if not np.isfinite(found).all():
            return float("inf")
        return p3.error(positions_of_tree(found) if is_tree else found, expected)

    start, highest = EFFORTS.get(solver, (8000, 1.3e5))
    return fastest(build, p3, solver, error, limit, repeats, start, highest)
