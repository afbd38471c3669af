"""Exudyn on P2's planar slider-crank with clearance: a kinematic tree of three coordinates, and planar rigid bodies."""

import exudyn.itemInterface as items
import numpy as np

from . import planar_clearance as p2
from .exudyn_contact import KINDS, exu, fastest, hollow_sphere, kinematic_tree, on_link, sensors_of

HEAVY = 1e4  # kg m^2, of the crank: it keeps its speed, without a constraint that explicit solvers would refuse
EFFORTS = {"DOPRI5": (1e6, 1e13), "RK44": (2500, 2e5), "RK67": (2500, 1e5)}


def tree(mbs):
    """Crank, rod on the crank, slider."""
    kind, same = exu.JointType, np.eye(3)
    links = [
        (kind.RevoluteZ, -1, (0, 0, 0), 1.0, HEAVY * same, (0, 0, 0)),
        (kind.RevoluteZ, 0, (p2.CRANK, 0, 0), p2.ROD_MASS, p2.ROD_INERTIA * same, (p2.ROD / 2, 0, 0)),
        (kind.PrismaticX, -1, (p2.CRANK + p2.ROD, 0, 0), p2.SLIDER_MASS, 1e-4 * same, (0, 0, 0)),
    ]
    node, number = kinematic_tree(mbs, links, [p2.SPEED, p2.START[2] - p2.SPEED, 0.0], [0, 0, 0])
    hollow_sphere(mbs, on_link(mbs, number, 2, [0, 0, 0]), on_link(mbs, number, 1, [p2.ROD, 0, 0]), p2)
    return [sensors_of(mbs, node, KINDS.Coordinates, KINDS.Coordinates_t)]


def rigid_bodies(mbs):
    """Crank, rod and slider of three coordinates each, with six constraints."""

    def body(mass, inertia, place, velocity, spin):
        node = mbs.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[*place, 0.0], initialCoordinates=[0.0] * 3, initialVelocities=[*velocity, spin]
            )
        )
        return node, mbs.AddObject(items.RigidBody2D(physicsMass=mass, physicsInertia=inertia, nodeNumber=node))

    def marker(number, x):
        return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=number, localPosition=[x, 0.0, 0.0]))

    spin, pin = p2.START[2], p2.SPEED * p2.CRANK
    _, crank = body(1.0, HEAVY, (0.0, 0.0), (0.0, 0.0), p2.SPEED)
    _, rod = body(p2.ROD_MASS, p2.ROD_INERTIA, (p2.CRANK + p2.ROD / 2, 0.0), (0.0, pin + spin * p2.ROD / 2), spin)
    node, slider = body(p2.SLIDER_MASS, 1e-4, (p2.CRANK + p2.ROD, 0.0), (0.0, 0.0), 0.0)
    ground = mbs.AddObject(items.ObjectGround())
    mbs.AddObject(items.RevoluteJoint2D(markerNumbers=[marker(ground, 0.0), marker(crank, 0.0)]))
    mbs.AddObject(items.RevoluteJoint2D(markerNumbers=[marker(crank, p2.CRANK), marker(rod, -p2.ROD / 2)]))
    fixed = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0))
    for k in (1, 2):
        free = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
        mbs.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, free]))
    hollow_sphere(mbs, marker(slider, 0.0), marker(rod, p2.ROD / 2), p2)
    return [sensors_of(mbs, node, KINDS.Coordinates, KINDS.Coordinates_t)]


def measure(formulation, solver, limit, repeats):
    """The fastest setting whose error is within `limit`."""
    build, column = (tree, 2) if formulation == "tree" else (rigid_bodies, 0)
    start, highest = EFFORTS.get(solver, (20000, 3.2e5))

    def error(coordinates):
        return p2.error(p2.CRANK + p2.ROD + coordinates[:, column])

    return fastest(build, p2, solver, error, limit, repeats, start, highest)
