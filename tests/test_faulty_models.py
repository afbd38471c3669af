"""Every fault names the part or key, and how to mend it; none of them surfaces as an error of JAX."""

import pytest

import mbjax as mb
from mbjax.io.read import load, loads

GOOD = """\
name = "good"

[bodies.bob]
mass = "1 kg"
inertia = [0.1, 0.1, 0.1]
position = [0.5, 0, 0]

[bodies.disc]
kind = "planar"
mass = 1
inertia = 1

[connections.pin]
journal = "bob"
point = [0, 0, 0]
axis = [0, 1, 0]
realisation = {kind = "Revolute"}

[connections.rail]
journal = "disc"
point = [0, 0, 0]
realisation = "Free"

[drivers.motor]
connection = "pin"
coordinate = "spin"
signal = {kind = "ConstantSpeed", speed = "60 rpm"}

[elements.spring]
kind = "JointSpring"
connection = "rail"
coordinate = "axial"
characteristic = {kind = "Linear", stiffness = "2 N/m"}

[elements.push]
kind = "AppliedForce"
body = "bob"
direction = [0, 0, 1]
signal = {kind = "Constant", value = "3 N"}

[markers.tip]
body = "bob"
point = [0.1, 0, 0]

[start]
positions = {"pin.spin" = "30 deg"}
speeds = {"disc.angle" = 1.0}

[simulation]
end = "2 s"
outputs = ["pin.spin"]
"""

MOTOR = '{kind = "ConstantSpeed", speed = "60 rpm"}'
LINEAR = '{kind = "Linear", stiffness = "2 N/m"}'

# (text to replace, replacement, key path, words of the message)
FAULTY_FILES = {
    "misspelt key": ("mass = 1\n", "mas = 1\n", "bodies.disc.mas", ["unknown key", "Did you mean `mass`?"]),
    "missing key": ('mass = "1 kg"\n', "", "bodies.bob.mass", ["missing", "in kg"]),
    "misspelt section": ("[markers.tip]", "[marker.tip]", "marker", ["unknown key", "Did you mean `markers`?"]),
    "no name": ('name = "good"\n', "", "name", ["missing"]),
    "wrong unit": ('"1 kg"', '"1 m"', "bodies.bob.mass", ["`1 m` is in m", "expected kg"]),
    "unknown unit": ('"1 kg"', '"1 kgg"', "bodies.bob.mass", ["`kgg` is not a unit", "Did you mean `kg`?"]),
    "angle for a length": ("[0.5, 0, 0]", '["30 deg", 0, 0]', "bodies.bob.position[0]", ["expected m"]),
    "no unit in quotes": ('"1 kg"', '"1"', "bodies.bob.mass", ["has no unit"]),
    "hertz for a speed": ('"60 rpm"', '"1 Hz"', "drivers.motor.signal.speed", ["expected rad/s"]),
    "torsional unit on a slide": (
        '"2 N/m"', '"2 N*m/rad"', "elements.spring.characteristic.stiffness", ["expected N/m"],
    ),
    "torque for a force": ('"3 N"', '"3 N*m"', "elements.push.signal.value", ["expected N"]),
    "text for numbers": ("[0.5, 0, 0]", '"there"', "bodies.bob.position", ["a number and a unit"]),
    "true for a number": ("mass = 1\n", "mass = true\n", "bodies.disc.mass", ["true/false", "expected numbers"]),
    "date for a number": ("mass = 1\n", "mass = 2020-01-01\n", "bodies.disc.mass", ["expected numbers"]),
    "two components": ("[0.5, 0, 0]", "[0.5, 0]", "bodies.bob.position", ["vector of 3 numbers"]),
    "ragged inertia": (
        "[0.1, 0.1, 0.1]", "[[1, 0, 0], [0, 1]]", "bodies.bob.inertia", ["expected numbers"],
    ),
    "list for a scalar": ("mass = 1\n", "mass = [1]\n", "bodies.disc.mass", ["one number"]),
    "infinite mass": ("mass = 1\n", "mass = inf\n", "bodies.disc.mass", ["finite"]),
    "NaN": ("[0.5, 0, 0]", "[nan, 0, 0]", "bodies.bob.position", ["finite"]),
    "negative mass": ("mass = 1\n", "mass = -1\n", "bodies.disc", ["mass -1 kg", "positive"]),
    "impossible inertia": (
        "[0.1, 0.1, 0.1]", "[0.1, 0.1, 0.3]", "bodies.bob", ["no rigid body has principal moments"],
    ),
    "unknown body kind": ('kind = "planar"', 'kind = "plane"', "bodies.disc.kind", ["Did you mean `planar`?"]),
    "body is no section": (
        "[simulation]", "[bodies]\nrod = 3\n[simulation]", "bodies.rod", ["a section `[bodies.rod]`"],
    ),
    "bodies as a list": ("[markers.tip]", "[[markers]]", "markers", ["`[markers.name]`"]),
    "unknown body": ('"disc"', '"disk"', "connections.rail.journal", ["no body `disk`", "Did you mean `disc`?"]),
    "unknown realisation": (
        '"Revolute"', '"Revolut"', "connections.pin.realisation.kind",
        ["not a realisation", "Did you mean `Revolute`?"],
    ),
    "realisation of Python": (
        '"Revolute"', '"CustomRows"', "connections.pin.realisation.kind", ["Python function"],
    ),
    "realisation is a number": (
        '{kind = "Revolute"}', "3", "connections.pin.realisation", ["expected a realisation such as"],
    ),
    "realisation without kind": ('{kind = "Revolute"}', "{}", "connections.pin.realisation.kind", ["Revolute, "]),
    "realisation lacks a length": (
        '"Revolute"', '"MasslessLink"', "connections.pin.realisation.length", ["missing", "in m"],
    ),
    "no realisation": ('realisation = {kind = "Revolute"}\n', "", "connections.pin.realisation", ["missing"]),
    "negative link": (
        '{kind = "Revolute"}', '{kind = "MasslessLink", length = "-1 m"}', "connections.pin.realisation",
        ["length -1 m must be positive"],
    ),
    "no point": ("point = [0, 0, 0]\naxis", "axis", "connections.pin.point", ["missing"]),
    "zero axis": ("axis = [0, 1, 0]", "axis = [0, 0, 0]", "connections.pin", ["axis is a zero vector"]),
    "reference along axis": (
        "axis = [0, 1, 0]", "axis = [0, 1, 0]\nreference = [0, 2, 0]", "connections.pin", ["parallel"],
    ),
    "two frames": (
        "axis = [0, 1, 0]", "bearing_frame = {point = [0, 0, 0]}", "connections.pin.journal_frame", ["missing"],
    ),
    "both kinds of frame": (
        "axis = [0, 1, 0]", "bearing_frame = {point = [0, 0, 0]}", "connections.pin.point", ["not both"],
    ),
    "body joined to itself": (
        'journal = "bob"', 'journal = "bob"\nbearing = "bob"', "connections.pin", ["joins body `bob` to itself"],
    ),
    "unknown connection": (
        'connection = "pin"', 'connection = "pins"', "drivers.motor.connection", ["Did you mean `pin`?"],
    ),
    "unknown coordinate": (
        'coordinate = "spin"', 'coordinate = "spinn"', "drivers.motor.coordinate", ["Did you mean `spin`?"],
    ),
    "driven constraint": (
        'coordinate = "spin"\nsignal = ' + MOTOR, 'coordinate = "axial"\nsignal = "Oops"',
        "drivers.motor.signal.kind", ["`Oops` is not a signal", "`Harmonic`"],
    ),
    "driver on a constrained motion": (
        'coordinate = "spin"\nsignal = ' + MOTOR,
        'coordinate = "axial"\nsignal = {kind = "Constant", value = "1 mm"}',
        "drivers.motor", ["axial motion of `pin` is already constrained by Revolute"],
    ),
    "coordinate that cannot be driven": (
        'coordinate = "spin"', 'coordinate = "tilt"', "drivers.motor", ["`tilt` cannot be driven"],
    ),
    "signal of Python": (MOTOR, '"Custom"', "drivers.motor.signal.kind", ["Python function"]),
    "times out of order": (
        MOTOR, "{kind = 'Table', times = [0, 2, 1], values = [0, 1, 2]}", "drivers.motor.signal",
        ["times must increase"],
    ),
    "wrong interpolation": (
        MOTOR, "{kind = 'Table', times = [0, 1], values = [0, 1], interpolation = 'splin'}",
        "drivers.motor.signal.interpolation", ["Did you mean `spline`?"],
    ),
    "missing CSV": (
        MOTOR, "{kind = 'Table', csv = 'none.csv', time = 't', column = 'x'}", "drivers.motor.signal.csv",
        ["none.csv", "No such file"],
    ),
    "CSV without column": (
        MOTOR, "{kind = 'Table', csv = 'none.csv', time = 't'}", "drivers.motor.signal.column", ["missing"],
    ),
    "element without kind": ('kind = "JointSpring"\n', "", "elements.spring.kind", ["missing", "JointSpring"]),
    "unknown element": (
        '"JointSpring"', '"JointSprng"', "elements.spring.kind", ["Did you mean `JointSpring`?"],
    ),
    "element on no body": ('body = "bob"\ndir', 'body = "bop"\ndir', "elements.push.body", ["Did you mean `bob`?"]),
    "number for a name": ('body = "bob"\ndir', "body = 3\ndir", "elements.push.body", ["text in quotes"]),
    "wrong choice": (
        "direction = [0, 0, 1]", "direction = [0, 0, 1]\naxes = 'world'", "elements.push.axes", ["`global`, `body`"],
    ),
    "characteristic lacks stiffness": (
        LINEAR, '"Linear"', "elements.spring.characteristic.stiffness", ["missing", "in N/m"],
    ),
    "marker on no body": (
        '[markers.tip]\nbody = "bob"', '[markers.tip]\nbody = "x"', "markers.tip.body", ["no body `x`"],
    ),
    "marker without body": ('[markers.tip]\nbody = "bob"', "[markers.tip]", "markers.tip.body", ["missing"]),
    "name used twice": ("[markers.tip]", "[markers.bob]", "bodies.bob", ["`bob` is used twice"]),
    "reserved name": ("[markers.tip]", "[markers.energy]", "markers.energy", ["reserved"]),
    "name with a blank": ("[markers.tip]", '[markers."the tip"]', 'markers."the tip"', ["letters, digits"]),
    "start of nothing": ('"pin.spin" =', '"pn.spin" =', 'start.positions."pn.spin"', ["Did you mean `pin`?"]),
    "start of no coordinate": ('"pin.spin" =', '"pin.spn" =', 'start.positions."pin.spn"', ["Did you mean `spin`?"]),
    "start twice": (
        '"30 deg"}', '"30 deg", pin.spin = 1}', 'start.positions."pin.spin"', ["given twice"],
    ),
    "start in metres": ('"30 deg"', '"30 mm"', 'start.positions."pin.spin"', ["expected rad"]),
    "start as a list": ('"30 deg"', "[1, 2]", 'start.positions."pin.spin"', ["one number"]),
    "both sample counts": (
        "outputs", "samples = 3\noutput_step = 0.1\noutputs", "simulation", ["`output_step` and `samples`"],
    ),
    "unknown solver": ("outputs", "solver = 'Dopri9'\noutputs", "simulation.solver", ["Did you mean `Dopri8`?"]),
    "end before start": ('"2 s"', '"-2 s"', "simulation", ["end -2 s must be after"]),
    "end as a list": ('"2 s"', "[2]", "simulation.end", ["one number"]),
    "size as a list": (
        "mass = 1\ninertia = 1", "shape = {kind = 'sphere', radius = [1], mass = 1}", "bodies.disc.shape.radius",
        ["one number"],
    ),
    "broken count": ("outputs", "samples = 3.5\noutputs", "simulation.samples", ["a whole number"]),
    "outputs as text": ('["pin.spin"]', '"pin.spin"', "simulation.outputs", ["expected a list"]),
    "unknown shape": (
        "mass = 1\ninertia = 1", "shape = {kind = 'bax', x = 1}", "bodies.disc.shape.kind", ["Did you mean `box`?"],
    ),
    "shape and mass": (
        "mass = 1\ninertia = 1", "mass = 1\nshape = {kind = 'sphere', radius = 1, mass = 1}", "bodies.disc.mass",
        ["given twice"],
    ),
    "shape without size": (
        "mass = 1\ninertia = 1", "shape = {kind = 'sphere', mass = 1}", "bodies.disc.shape.radius", ["missing"],
    ),
    "shape of negative size": (
        "mass = 1\ninertia = 1", "shape = {kind = 'sphere', radius = '-1 m', mass = 1}", "bodies.disc.shape",
        ["must be a positive number"],
    ),
    "shape without mass": (
        "mass = 1\ninertia = 1", "shape = {kind = 'sphere', radius = 1}", "bodies.disc.shape", ["`mass` or `density`"],
    ),
}  # fmt: skip


def faults_of(text, source="model.toml"):
    with pytest.raises(mb.ModelError) as error:
        loads(text, source)
    assert error.value.__cause__ is None
    return error.value.faults


def test_the_good_model_is_good():
    assert loads(GOOD).name == "good"


@pytest.mark.parametrize("case", FAULTY_FILES)
def test_a_fault_names_file_key_and_cure(case):
    old, new, path, words = FAULTY_FILES[case]
    assert old in GOOD
    faults = faults_of(GOOD.replace(old, new, 1))
    hit = [f for f in faults if f.startswith(f"model.toml: {path}: ") and all(word in f for word in words)]
    assert len(hit) == 1, "\n".join(faults)


@pytest.mark.parametrize("case", [c for c in FAULTY_FILES if c not in ("both kinds of frame", "two frames")])
def test_one_mistake_gives_few_messages(case):
    old, new, _, _ = FAULTY_FILES[case]
    faults = faults_of(GOOD.replace(old, new, 1))
    assert len(faults) <= 2, "\n".join(faults)


def test_all_faults_come_at_once():
    text = GOOD
    for case in ("wrong unit", "negative mass", "unknown realisation", "unknown connection", "element on no body"):
        text = text.replace(*FAULTY_FILES[case][:2], 1)
    text = text.replace("[markers.tip]", "[markers.energy]")
    found = "\n".join(faults_of(text))
    for path in (
        "bodies.bob.mass: ", "bodies.disc: ", "connections.pin.realisation.kind: ", "drivers.motor.connection: ",
        "elements.push.body: ", "markers.energy: ",
    ):  # fmt: skip
        assert f"model.toml: {path}" in found
    assert len(found.splitlines()) == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "a"\nmass = = 3\n', ["model.toml:2:", "not valid TOML"]),
        ('name = "a"\n[bodies.a]\n[bodies.a]\n', ["model.toml:3:", "twice"]),
        ('name = "a"\nname = "b"\n', ["model.toml:2:", "overwrite"]),
        ("", ["name: missing", "bodies: missing"]),
    ],
)
def test_a_file_that_is_no_model_says_where(text, words):
    message = "\n".join(faults_of(text))
    for word in words:
        assert word in message


def test_an_unreadable_file_is_named(tmp_path):
    with pytest.raises(mb.ModelError, match=r"none\.toml: the model file cannot be read: No such file"):
        load(tmp_path / "none.toml")
    with pytest.raises(mb.ModelError, match="Is a directory"):
        load(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(mb.ModelError, match="not a text file"):
        load(tmp_path / "binary.toml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("t,x\n0,1\n1,abc\n", ["line 3", "column `x`", "'abc'"]),
        ("t,x\n0,1\n1\n", ["line 3", "got nothing"]),
        ("t,y\n0,1\n", ["no column `x`", "Columns: t, y"]),
        ("t,x [mm]\n0,1\n1,2\n", ["`mm` is in m", "expected rad"]),
        ("t,x\n0,1\n0,2\n", ["times must increase"]),
        ("t,x\n0,1\n1,nan\n", ["drivers.motor.signal.values", "finite"]),
        ("", ["cannot be read"]),
    ],
)
def test_a_faulty_csv_file_names_file_and_line(tmp_path, content, words):
    (tmp_path / "x.csv").write_text(content)
    text = GOOD.replace(MOTOR, "{kind = 'Table', csv = 'x.csv', time = 't', column = 'x'}")
    with pytest.raises(mb.ModelError) as error:
        loads(text, "model.toml", tmp_path)
    (fault,) = error.value.faults
    assert fault.startswith("model.toml: drivers.motor.signal")
    for word in words:
        assert word in fault
