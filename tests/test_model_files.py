import inspect
import pathlib
import warnings

import equinox as eqx
import jax
import numpy as np
import pytest

import mbjax as mb
from mbjax import element, joint, signal
from mbjax.element import characteristic
from mbjax.io.read import load, load_document, loads
from mbjax.io.schema import ROOMS, catalogue, entries, is_module, needs_python
from mbjax.io.write import to_toml

EXAMPLES = sorted((pathlib.Path(__file__).parents[1] / "examples").glob("*.toml"))
BUILDERS = dict(inspect.getmembers(mb.library, inspect.isfunction))
ODD = 0.1 + 0.2  # needs all 17 digits

SIGNALS = {
    signal.Constant: signal.Constant(ODD),
    signal.ConstantSpeed: signal.ConstantSpeed(ODD, -0.0),
    signal.SmoothStep: signal.SmoothStep(0.0, ODD, 1 / 3, 2 / 3),
    signal.Harmonic: signal.Harmonic(ODD, 50.0, 1e-300, 1 / 7),
    signal.Polynomial: signal.Polynomial([ODD, -1 / 3, 5e-324]),
    signal.Table: signal.Table([0.0, ODD, 1.0], [1 / 3, -1 / 7, 1e22], "spline"),
}
JOINTS = {
    joint.Universal: joint.Universal((ODD, 0.0, 0.0), (0.0, -1 / 3, -0.0)),
    joint.MasslessLink: joint.MasslessLink(1 / 3),
}
SPRINGS = {
    characteristic.Linear: characteristic.Linear(ODD, 1 / 3, 1 / 7, -1 / 9),
    characteristic.Polynomial: characteristic.Polynomial([ODD, 0.0, 1 / 3], 1 / 7, 1 / 9, 1 / 11),
    characteristic.Tabulated: characteristic.Tabulated([-ODD, 0.0, 1 / 3], [-1.0, 1 / 7, 1.0], 1 / 9, 1 / 11),
}
SPRING = SPRINGS[characteristic.Linear]
ELEMENTS = {
    element.Gravity: element.Gravity((0.0, ODD, -9.81), "weight"),
    element.SpringDamper: element.SpringDamper("e", "a", "ground", SPRING, (ODD, 0, 0), (1 / 3, 0, 0), False),
    element.JointSpring: element.JointSpring("e", "pin", "spin", SPRING),
    element.AppliedForce: element.AppliedForce("e", "a", signal.Constant(ODD), (0, 1, 0), kind="torque", axes="body"),
    element.JointForce: element.JointForce("e", "pin", "axial", signal.Constant(ODD)),
    element.JointFriction: element.JointFriction("e", "pin", "spin", ODD, 1 / 3, 1 / 7, "arctan", 1 / 9, ODD),
    element.Motor: element.Motor("e", "pin", "spin", signal.Constant(ODD), 1 / 3, 1 / 7, 1 / 9, 1 / 11, 1 / 13),
}


def base(realisation=None, *, drivers=(), elements=(), markers=(), start=None):
    turn = np.array([0.5, -0.5, 0.5, 0.5]) * (1 + 1e-16)
    bodies = [
        mb.SpatialBody("a", ODD, (1 / 3, 1 / 3, 1 / 3), (ODD, -0.0, 1e-9), turn, (1 / 7, 0, 0), (0, 0, 1 / 9)),
        mb.SpatialBody("b", 1.0, [[1.0, 0.1, -0.0], [0.1, 1.0, 0.0], [-0.0, 0.0, 1.0]]),
        mb.PlanarBody("c", 1.0, ODD, (1 / 3, 0), 1 / 7, plane_x=(0.0, 0.0, 1.0), plane_y=(1.0, 0.0, 0.0)),
    ]
    on_bodies = mb.frame_on_bodies((ODD, 0, 0), (1 / 3, 0, 0), bearing_reference=(1, 0, 0))
    connections = [
        mb.Connection("pin", mb.frame((ODD, 0, 0), (0, 1, 1 / 3)), journal="a", realisation=realisation or mb.Free()),
        mb.Connection("link", on_bodies, bearing="a", journal="b", realisation=mb.Spherical()),
    ]
    return mb.Mechanism('odd "name"\n\u00e9\x7f', bodies, connections, drivers, elements, markers, start or mb.Start())


def assert_same(first, second):
    """Equal in structure and names, and bit by bit in every number."""
    (a, tree_a), (b, tree_b) = jax.tree.flatten(first), jax.tree.flatten(second)
    assert tree_a == tree_b
    for x, y in zip(a, b, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())


def assert_round_trip(mechanism):
    text = to_toml(mechanism)
    again = loads(text)
    assert_same(mechanism, again)
    assert to_toml(again) == text


@pytest.mark.parametrize("name", BUILDERS)
def test_library_mechanisms_survive_a_model_file_bit_by_bit(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelWarning)
        mechanism = BUILDERS[name]()
    try:
        text = to_toml(mechanism)
    except mb.ModelError as error:
        assert "Python function" in str(error)
        return
    assert_same(mechanism, loads(text, name))


@pytest.mark.parametrize("cls", [c for c in joint.CATALOGUE if not needs_python(c)], ids=lambda c: c.__name__)
def test_realisations_survive_a_model_file(cls):
    assert_round_trip(base(JOINTS[cls] if cls in JOINTS else cls()))


@pytest.mark.parametrize("cls", [c for c in signal.CATALOGUE if not needs_python(c)], ids=lambda c: c.__name__)
def test_signals_survive_a_model_file(cls):
    driver = mb.Driver("motor", "pin", "axial", SIGNALS[cls])
    assert_round_trip(base(drivers=[driver], elements=[mb.JointForce("push", "pin", "spin", SIGNALS[cls])]))


@pytest.mark.parametrize("cls", [c for c in element.CATALOGUE if not needs_python(c)], ids=lambda c: c.__name__)
def test_elements_survive_a_model_file(cls):
    assert_round_trip(base(elements=[ELEMENTS[cls]]))


@pytest.mark.parametrize("cls", characteristic.CATALOGUE, ids=lambda c: c.__name__)
def test_characteristics_survive_a_model_file(cls):
    assert_round_trip(base(elements=[mb.JointSpring("e", "pin", "spin", SPRINGS[cls])]))


def test_markers_and_start_survive_a_model_file():
    markers = [
        mb.Marker("tip", "a", (ODD, 0, 0)),
        mb.Marker("base", "ground", (1 / 3, 0, 0), (0, 1, 0), (1, 0, 1), in_body=False),
    ]
    start = mb.Start({"pin.spin": ODD, "a.position.x": 1 / 3}, {"c.angle": -1 / 7})
    assert_round_trip(base(markers=markers, start=start))


def test_every_number_of_every_catalogue_has_a_unit_on_record():
    missing = [
        f"{cls.__name__}.{e.name}"
        for catalogue_ in (joint.CATALOGUE, signal.CATALOGUE, element.CATALOGUE, characteristic.CATALOGUE)
        for cls in catalogue_
        if not needs_python(cls)
        for e in entries(cls)
        if e.type is np.ndarray and e.unit is None
    ]
    assert missing == [], "add them to mbjax/io/dimensions.py, or metadata={'unit': ...} to the field"


def test_a_new_class_of_a_catalogue_is_readable_without_touching_the_reader(monkeypatch):
    class Sawtooth(signal.base.AbstractSignal):
        height: np.ndarray = eqx.field(converter=np.asarray, metadata={"unit": "Y"})
        inner: signal.base.AbstractSignal
        several: tuple[signal.base.AbstractSignal, ...]
        count: int = eqx.field(static=True, default=3)

        def __call__(self, t):
            return t

        def prepared(self):
            return self

        def knots(self):
            return signal.base.NO_KNOTS

    monkeypatch.setattr(signal, "CATALOGUE", (*signal.CATALOGUE, Sawtooth))
    part = Sawtooth(np.asarray(ODD), signal.Constant(1 / 3), (signal.Constant(1 / 7), signal.Constant(1.0)), 5)
    assert_round_trip(base(drivers=[mb.Driver("motor", "pin", "spin", part)]))
    text = MINIMAL + (
        '[drivers.m]\nconnection="pin"\ncoordinate="axial"\n'
        'signal={kind="Sawtooth", height="3 mm", inner="Oops", several=[]}'
    )
    with pytest.raises(mb.ModelError, match=r"drivers\.m\.signal\.inner\.kind: `Oops` is not a signal"):
        loads(text)


def test_the_rooms_with_catalogues_exist():
    for room in ROOMS:
        assert __import__(f"mbjax.{room}", fromlist=["CATALOGUE"]).CATALOGUE
    assert set(catalogue(joint.AbstractRealisation)) >= {c.__name__ for c in joint.CATALOGUE}
    assert is_module(joint.AbstractRealisation)


MINIMAL = """
name = "minimal"
[bodies.bob]
mass = 1
inertia = [1, 1, 1]
[connections.pin]
journal = "bob"
point = [0, 0, 0]
realisation = "Free"
"""


def element_of(lines):
    return loads(MINIMAL + "[elements.e]\n" + lines)["e"]


def test_units_follow_the_coordinate():
    along = element_of(
        'kind="JointSpring"\nconnection="pin"\ncoordinate="axial"\n'
        'characteristic={kind="Polynomial", coefficients=["2 N/mm", "3 N/mm^2"], rest="5 mm"}'
    ).characteristic
    np.testing.assert_allclose(along.coefficients, [2e3, 3e6], rtol=1e-15)
    assert along.rest == 0.005
    turning = element_of(
        'kind="JointSpring"\nconnection="pin"\ncoordinate="spin"\n'
        'characteristic={kind="Linear", stiffness="2 N*m/deg", rest="90 deg"}'
    ).characteristic
    np.testing.assert_allclose([turning.stiffness, turning.rest], [360 / np.pi, np.pi / 2], rtol=1e-15)


def test_a_torque_on_a_body_is_read_in_newton_metres():
    torque = element_of(
        'kind="AppliedForce"\nbody="bob"\nload="torque"\ndirection=[0,0,1]\n'
        'signal={kind="Polynomial", coefficients=["1 kN*m", "2 N*m/s"]}'
    )
    assert torque.kind == "torque"
    np.testing.assert_array_equal(torque.signal.coefficients, [1000.0, 2.0])


def test_a_solid_gives_mass_and_inertia():
    text = (
        'name="solid"\n[bodies.a]\nshape={kind="box", x="10 mm", y="20 mm", z="30 mm", density="7.85 g/cm^3"}\n'
        '[bodies.p]\nkind="planar"\nshape={kind="rod", length="1 m", mass="3 kg"}\n'
        '[bodies.t]\nmass=1\ninertia=[1,1,1]\norientation={axis=[0,0,2], angle="90 deg"}'
    )
    mechanism = loads(text)
    exact = mb.shape.box(0.01, 0.02, 0.03, density=7850.0)
    assert mechanism["a"].mass == exact["mass"]
    np.testing.assert_array_equal(mechanism["a"].inertia, np.diag(exact["inertia"]))
    assert mechanism["p"].inertia == 0.25
    np.testing.assert_allclose(mechanism["t"].orientation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], rtol=1e-15)


def test_a_table_is_read_from_a_csv_file_beside_the_model(tmp_path):
    (tmp_path / "torque.csv").write_text("t [ms],torque,other [N]\n0,1.5,0\n10,2.5,0\n")
    signal_line = 'signal={kind="Table", csv="torque.csv", time="t", column="torque", unit="kN*m"}\n'
    (tmp_path / "m.toml").write_text(
        MINIMAL + '[elements.e]\nkind="JointForce"\nconnection="pin"\ncoordinate="spin"\n' + signal_line
    )
    mechanism = load(tmp_path / "m.toml")
    np.testing.assert_array_equal(mechanism["e"].signal.times, [0.0, 0.01])
    np.testing.assert_array_equal(mechanism["e"].signal.values, [1500.0, 2500.0])
    assert_same(mechanism, loads(to_toml(mechanism)))


def test_start_channels_need_no_quotes():
    mechanism = loads(MINIMAL + '[start.positions]\npin.spin = "180 deg"\nbob.position.x = "3 mm"\n')
    assert mechanism.start.positions == {"pin.spin": np.pi, "bob.position.x": 0.003}


def test_swapping_a_joint_is_one_line():
    hinge = loads(MINIMAL.replace('"Free"', '"Revolute"'))
    ball = loads(MINIMAL.replace('"Free"', '{kind = "Spherical"}'))
    assert_same(hinge, ball.replace("pin", mb.Revolute()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_models_load_and_name_channels_that_exist(path):
    from mbjax.observe import find_channel

    document = load_document(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelWarning)
        system = mb.assemble(document.mechanism)
    assert document.settings.end > 0
    for name in document.settings.outputs:
        find_channel(system.structure, name)
    assert_same(document.mechanism, loads(document.mechanism.to_toml()))


def test_python_functions_and_traced_values_cannot_be_written():
    custom = mb.CustomRows(mb.Free(), ("x",), lambda d, r, t, v: d[:1])
    driver = mb.Driver("motor", "pin", "spin", signal.Custom(lambda t, v: t))
    with pytest.raises(mb.ModelError) as error:
        to_toml(base(custom, drivers=[driver]))
    assert len(error.value.faults) == 2
    assert "`pin`: CustomRows" in error.value.faults[0]
    assert "`motor`.signal: Custom" in error.value.faults[1]

    def traced(mass):
        to_toml(base().with_values({"a.mass": mass}))
        return mass

    with pytest.raises(mb.ModelError, match=r"`a`.mass: the value is being traced"):
        jax.jit(traced)(1.0)


class Private(signal.base.AbstractSignal):
    """A signal that is in no catalogue."""

    value: np.ndarray = eqx.field(converter=np.asarray)

    def __call__(self, t):
        return self.value

    def prepared(self):
        return self

    def knots(self):
        return signal.base.NO_KNOTS


def test_a_class_outside_the_catalogues_is_not_written():
    with pytest.raises(mb.ModelError, match=r"`motor`\.signal: Private is in no CATALOGUE"):
        to_toml(base(drivers=[mb.Driver("motor", "pin", "spin", Private(1.0))]))


def test_the_kind_may_be_said_where_only_one_fits(tmp_path):
    dry = mb.Dry(mb.Impact(mb.Hertz(1e10), mb.LankaraniNikravesh(0.9)))
    law = mb.Hybrid(mb.SqueezeFilm(0.4, 0.04, extra=1e-5), dry, 5e-6)
    text = mb.library.planar_slider_crank_clearance(interface=law).to_toml()
    path = tmp_path / "model.toml"
    path.write_text(text.replace("dry = {", 'dry = {kind = "Dry", '))
    assert mb.load(path).to_toml() == text
    path.write_text(text.replace("dry = {", 'dry = {kind = "Hybrid", '))
    with pytest.raises(mb.ModelError, match=r"interface\.dry\.kind: unknown key"):
        mb.load(path)
