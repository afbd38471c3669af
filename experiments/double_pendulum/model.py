"""The mechanism, its published parameters, and the friction laws that are compared."""

import dataclasses

import mbjax as mb

from .windows import GEAR

REACH = 0.2  # m, shoulder to elbow


@dataclasses.dataclass(frozen=True)
class Link:
    """One link and its drive."""

    mass: float  # kg
    centre: float  # m from its joint
    inertia: float  # kg m^2 about its mass centre
    rotor: float  # kg m^2
    viscous: float  # N m s/rad
    dry: float  # N m


def published():
    """The published parameters as a mechanism that can exist.

    Motion knows link 2 by its mass times centre and its inertia about the elbow; its mass can be traded with link 1.
    The published one (0.5639 kg at 0.3213 m, 0.05388 kg m^2 about the joint) has a negative inertia about its mass
    centre: 0.70 kg does the same motion with a positive one. Their equations also have a rotor of the elbow that is
    carried by link 1 and turns against the joint (mass matrix +J, -6 J, +36 J): with the inertia of link 2 less 6 J,
    that of link 1 more J and 7/6 J as the rotor, a rotor that turns with the joint does the same.
    """
    rotor, arctan = 9.94e-5, 1.5707963267948966  # J; their friction is not divided by its limit
    mass = (0.6417, 0.70)
    given, moment = (0.6417, 0.5639), (0.6417 * 0.2, 0.5639 * 0.3213)
    moment = (moment[0] + (given[1] - mass[1]) * REACH, moment[1])
    inertia = (0.02671 + (given[1] - mass[1]) * REACH**2 + rotor, 0.05388 - GEAR * rotor)
    return tuple(
        Link(m, s / m, j - s**2 / m, rotor * (1 + 1 / GEAR), 0.001, arctan * dry)
        for m, s, j, dry in zip(mass, moment, inertia, (0.093, 0.078), strict=True)
    )


def mechanism(links):
    """Both links hanging down, drawn in the x-y plane; angles are `shoulder.spin` and `elbow.spin`."""
    first, second = links
    bodies = [
        mb.PlanarBody("link1", first.mass, first.inertia, (0.0, -first.centre)),
        mb.PlanarBody("link2", second.mass, second.inertia, (0.0, -REACH - second.centre)),
    ]
    elements = [mb.Gravity((0.0, -9.81, 0.0))]
    for k, (joint, link) in enumerate(zip(("shoulder", "elbow"), links, strict=True), start=1):
        elements += [
            mb.Motor(f"motor{k}", joint, gear=GEAR, rotor_inertia=link.rotor),
            mb.JointFriction(f"friction{k}", joint, "spin", viscous=link.viscous, dry=link.dry, shape="arctan"),
            mb.JointForce(f"bias{k}", joint, "spin", mb.signal.Constant(0.0)),
        ]
    return mb.Mechanism("double pendulum", bodies, _joints(), elements=elements)


def _joints():
    """Each side has its own reference: turning that of the journal shifts the zero of the joint's encoder."""

    def at(y):
        return mb.Frame(*(mb.Placement((0.0, y, 0.0), (0, 0, 1), (1.0, 0.0, 0.0)) for _ in range(2)))

    return [
        mb.Connection("shoulder", at(0.0), journal="link1", realisation=mb.Revolute()),
        mb.Connection("elbow", at(-REACH), bearing="link1", journal="link2", realisation=mb.Revolute()),
    ]
