"""Parts built in Python with nonsense in them: a ValueError that names the part, never an error of JAX."""

import numpy as np
import pytest

import mbjax as mb
from mbjax import signal


def body(name="a", **changes):
    return mb.SpatialBody(name, **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0), **changes})


def pin(name="pin", journal="a", realisation=None, **changes):
    return mb.Connection(name, mb.frame(), journal=journal, realisation=realisation or mb.Revolute(), **changes)


FAULTY_CODE = {
    "mass zero": (lambda: body(mass=0), ["`a`", "mass 0 kg"]),
    "mass text": (lambda: body(mass="heavy"), ["expected numbers", "'heavy'"]),
    "mass list": (lambda: body(mass=[1, 2]), ["one number", "(2,)"]),
    "inertia unsymmetric": (lambda: body(inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]), ["`a`", "not symmetric"]),
    "inertia negative": (lambda: body(inertia=(-1, 1, 1)), ["`a`", "must be positive"]),
    "inertia triangle": (lambda: body(inertia=(1, 1, 3)), ["`a`", "no rigid body"]),
    "orientation zero": (lambda: body(orientation=(0, 0, 0, 0)), ["`a`", "Euler parameters"]),
    "plane skew": (lambda: mb.PlanarBody("a", 1, 1, plane_y=(1, 0, 0)), ["`a`", "right angles"]),
    "planar inertia": (lambda: mb.PlanarBody("a", 1, 0), ["`a`", "inertia 0"]),
    "self joint": (lambda: pin(bearing="a"), ["`pin`", "`a` to itself"]),
    "frame missing": (
        lambda: mb.Connection("pin", (0, 0, 0), journal="a", realisation=mb.Revolute()), ["`pin`", "mbjax.frame"],
    ),
    "realisation class": (lambda: pin(realisation=mb.Revolute), ["`pin`", "Revolute()"]),
    "driver signal": (lambda: mb.Driver("m", "pin", "spin", 3.0), ["`m`", "ConstantSpeed"]),
    "driver coordinate": (lambda: mb.Driver("m", "pin", "radial", signal.Constant(0)), ["`m`", "`radial`"]),
    "universal": (lambda: mb.Universal((1, 0, 0), (1, 1, 0)), ["Universal", "right angles"]),
    "link": (lambda: mb.MasslessLink(0.0), ["MasslessLink", "0 m"]),
    "custom twice": (
        lambda: mb.CustomRows(mb.Revolute(), ("x",), lambda d, r, t, v: d[:1], owned=("axial",)),
        ["CustomRows", "axial"],
    ),
    "friction negative": (lambda: mb.JointFriction("f", "pin", "spin", viscous=-1), ["`f`", "viscous -1"]),
    "friction shape": (lambda: mb.JointFriction("f", "pin", "spin", shape="sign"), ["`f`", "'sign'"]),
    "rotor negative": (lambda: mb.Motor("m", "pin", rotor_inertia=-1), ["`m`", "rotor_inertia -1"]),
    "gear loss": (lambda: mb.Motor("m", "pin", loss=1.5), ["`m`", "loss 1.5"]),
    "loss speed": (lambda: mb.Motor("m", "pin", loss_speed=0), ["`m`", "loss_speed 0"]),
    "stribeck speed": (lambda: mb.JointFriction("f", "pin", "spin", stribeck_speed=0), ["`f`", "stribeck_speed 0"]),
    "force kind": (
        lambda: mb.AppliedForce("f", "a", signal.Constant(1), (0, 0, 1), kind="moment"), ["`f`", "'moment'"],
    ),
    "table lengths": (lambda: signal.Table([0, 1], [0, 1, 2]), ["2 times and 3 values"]),
    "table order": (lambda: signal.Table([0, 0], [0, 1]), ["times must increase", "entry 1"]),
    "step times": (lambda: signal.SmoothStep(0, 1, 2, 1), ["end_time 1", "begin_time 2"]),
    "polynomial": (lambda: signal.Polynomial([]), ["at least one coefficient"]),
    "box": (lambda: mb.shape.box(1, 1, -1, mass=1), ["box", "z = -1"]),
    "no bodies": (lambda: mb.Mechanism("m", []), ["`m` has no body"]),
    "not a body": (lambda: mb.Mechanism("m", [pin()]), ["`m`", "not a AbstractBody"]),
    "names twice": (lambda: mb.Mechanism("m", [body(), body()]), ["`a` is used twice"]),
    "ground taken": (lambda: mb.Mechanism("m", [body("ground")]), ["`ground` is reserved"]),
    "unknown journal": (lambda: mb.Mechanism("m", [body()], [pin(journal="b")]), ["`pin`", "`b`", "Known: a"]),
    "driven constraint": (
        lambda: mb.Mechanism("m", [body()], [pin()], [mb.Driver("d", "pin", "axial", signal.Constant(0))]),
        ["`d`", "already constrained by Revolute"],
    ),
    "driven twice": (
        lambda: mb.Mechanism(
            "m", [body()], [pin()], [mb.Driver(n, "pin", "spin", signal.Constant(0)) for n in ("d", "e")]
        ),
        ["`d` and `e` both drive"],
    ),
    "element coordinate": (
        lambda: mb.Mechanism(
            "m", [body()], [pin()], elements=[mb.JointForce("f", "pin", "spn", signal.Constant(0))]
        ),
        ["`f`", "Did you mean `spin`?"],
    ),
    "spring on itself": (
        lambda: mb.Mechanism(
            "m", [body()], elements=[mb.SpringDamper("s", "a", "a", mb.element.characteristic.Linear(1))]
        ),
        ["`s`", "`a` to itself"],
    ),
    "marker body": (lambda: mb.Mechanism("m", [body()], markers=[mb.Marker("k", "b", (0, 0, 0))]), ["`k`", "`b`"]),
    "value path": (lambda: mb.Mechanism("m", [body()]).with_values({"a.mas": 1}), ["a.mas", "Did you mean `mass`?"]),
    "value shape": (lambda: mb.Mechanism("m", [body()]).with_values({"a.mass": [1, 2]}), ["a.mass", "(2,)"]),
    "value of a row": (
        lambda: mb.Mechanism("m", [body()]).with_values({"a.inertia.0": 1.0}), ["a.inertia.0", "(3,)", "()"],
    ),
    "speed by velocity": (
        lambda: mb.initial_state(mb.assemble(mb.Mechanism("m", [body()])), speeds={"a.velocity.z": 1.0}),
        ["a.velocity.z", "position.z", "named by what they change"],
    ),
    "replace a body": (lambda: mb.Mechanism("m", [body()]).replace("a", mb.Revolute()), ["`a`", "only a connection"]),
    "start twice": (lambda: mb.Start({"pin.spin": [1, 2]}), ["one number"]),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTY_CODE)
def test_a_fault_in_code_is_a_value_error_that_names_the_part(case):
    build, words = FAULTY_CODE[case]
    with pytest.raises(ValueError) as error:
        build()
    assert type(error.value) in (ValueError, mb.ModelError)
    for word in words:
        assert word in str(error.value)


def test_faults_found_at_assembly_name_what_they_mean():
    mechanism = mb.Mechanism("m", [body()], [pin()]).with_start({"pin.spn": 1.0})
    with pytest.raises(mb.ModelError, match=r"`pin\.spn`.*Did you mean `spin`"):
        mb.initial_state(mb.assemble(mechanism))


@pytest.mark.slow
def test_a_contradicting_start_names_the_connections():
    contradicting = mb.Mechanism("m", [body(position=np.array([0.5, 0, 0]))], [pin()])
    with pytest.raises(mb.SimulationError, match="pin"):
        mb.initial_state(mb.assemble(contradicting), positions={"a.position.x": 9.0})


def test_binding_checks_the_numbers_it_is_given():
    system = mb.assemble(mb.library.planar_slider_crank_clearance())
    with pytest.raises(mb.ModelError, match=r"`rod`: .*mass") as error:
        system.bind({"rod.mass": -1.0, "B.interface.normal.hysteresis.restitution": 1.5})
    assert len(error.value.faults) == 2 and "restitution" in error.value.faults[1]
