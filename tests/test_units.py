import math

import pytest

from mbjax.units import UnitError, parse_quantity, parse_unit


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("12 mm", "m", 0.012),
        ("12.7mm", "m", 0.0127),
        ("3 um", "m", 3e-6),
        ("3 µm", "m", 3e-6),
        ("1.5 km", "m", 1500.0),
        ("250 g", "kg", 0.25),
        ("2 t", "kg", 2000.0),
        ("90 min", "h", 5400.0),
        ("5 ms", "s", 0.005),
        ("2 kN/m", "N/m", 2000.0),
        ("5 N*s/m", "N*s/m", 5.0),
        ("5 N s/m", "N*s/m", 5.0),
        ("0.3 N*m/rad", "N*m/rad", 0.3),
        ("0.3 N·m/rad", "N*m/rad", 0.3),
        ("7 kg*m^2", "kg*m^2", 7.0),
        ("7 kg m²", "kg*m^2", 7.0),
        ("1000 kg*mm^2", "kg*m^2", 1e-3),
        ("7.85 g/cm^3", "kg/m^3", 7850.0),
        ("-9.81 m/s^2", "m/s^2", -9.81),
        ("1e-3 m", "m", 1e-3),
        (".5 m", "m", 0.5),
        ("2 bar", "Pa", 2e5),
        ("210 GPa", "N/m^2", 210e9),
        ("3 MPa", "Pa", 3e6),
        ("1 J", "N*m", 1.0),
        ("1 kW", "J/s", 1000.0),
        ("4 J/(kg*m)", "m/s^2", 4.0),
        ("50 Hz", "1/s", 50.0),
        ("4 1/s", "Hz", 4.0),
        ("4 /s", "Hz", 4.0),
        ("5 %", "1", 0.05),
        ("0.3", "1", 0.3),
        (12, "m", 12.0),
        ("3 m*s^-1", "m/s", 3.0),
        ("1e10 N/m^1.5", "N/m^(3/2)", 1e10),
    ],
)
def test_a_quantity_becomes_the_nearest_float_in_si(text, dimension, value):
    assert parse_quantity(text, dimension) == value


def test_angles_are_turned_into_radians():
    assert parse_quantity("180 deg", "rad") == math.pi
    assert parse_quantity("30 deg", "rad") == pytest.approx(math.pi / 6, rel=1e-15)
    assert parse_quantity("1 rev", "rad") == pytest.approx(2 * math.pi, rel=1e-15)
    assert parse_quantity("3000 rpm", "rad/s") == pytest.approx(100 * math.pi, rel=1e-15)
    assert parse_quantity("90 deg/s", "rad/s") == pytest.approx(math.pi / 2, rel=1e-15)
    assert parse_quantity("2 N*m/deg", "N*m/rad") == pytest.approx(360 / math.pi, rel=1e-15)


def test_a_broken_power_scales_the_prefix():
    assert parse_quantity("1 N/mm^1.5", "N/m^1.5") == pytest.approx(1e3**1.5, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "dimension", "words"),
    [
        ("30 deg", "m", ["30 deg", "rad", "expected m"]),
        ("50 Hz", "rad/s", ["50 Hz", "s^-1", "expected rad/s"]),
        ("3 N", "m", ["m*kg*s^-2", "expected m"]),
        ("2 N/m", "N*m/rad", ["expected N*m/rad"]),
        ("12", "m", ["no unit", "(m)"]),
        ("12 mn", "m", ["`mn` is not a unit", "Did you mean"]),
        ("3000 rmp", "rad/s", ["Did you mean `rpm`?"]),
        ("twelve mm", "m", ["number and a unit"]),
        ("mm", "m", ["number and a unit"]),
        ("", "m", ["number and a unit"]),
        ("2 kg/m s", "kg/(m*s)", ["ambiguous"]),
        ("2 kg/", "kg", ["ends too early"]),
        ("2 m^", "m", ["after `^`"]),
        ("2 (m", "m", ["closing bracket"]),
        ("2 m)", "m", ["from `)` on"]),
        ("2 m $", "m", ["cannot be read"]),
        ("3 m^(1/0)", "m", ["after `^`"]),
        ("1e400 m", "m", ["too large"]),
        (10**400, "m", ["too large"]),
        ("3 m", "1", ["expected a number without unit"]),
    ],
)
def test_a_wrong_quantity_says_got_and_expected(text, dimension, words):
    with pytest.raises(UnitError) as error:
        parse_quantity(text, dimension)
    for word in words:
        assert word in str(error.value)


def test_a_unit_without_number_has_a_factor():
    assert parse_unit("kg*m^2").of(1) == 1.0
    assert parse_unit("g/cm^3").of(1) == 1000.0
