"""Units of measurement: `"12 mm"`, `"3000 rpm"`, `"2 kN/m"` to SI, with a check of the dimension.

A radian counts as a unit of its own, so that `deg` is refused where metres are wanted and `Hz` where rad/s is wanted
(they differ by 2 pi); `rpm` and `deg/s` are accepted for rad/s. Factors are exact fractions (times a power of pi), so
`"12.7 mm"` is the same float as `0.0127`.
"""

import math
import re
from fractions import Fraction
from typing import NamedTuple

from .errors import did_you_mean

BASES = ("m", "kg", "s", "rad")


class Unit(NamedTuple):
    """factor x pi^turns, in SI; `powers` are the exponents of m, kg, s, rad."""

    factor: Fraction
    turns: Fraction
    powers: tuple[Fraction, ...]

    def __mul__(self, other):
        powers = tuple(a + b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.factor * other.factor, self.turns + other.turns, powers)

    def __pow__(self, exponent):
        factor = self.factor**exponent  # a float where the exponent is broken
        return Unit(Fraction(factor), self.turns * exponent, tuple(p * exponent for p in self.powers))

    def of(self, number):
        """`number` of this unit in SI, as a float."""
        return float(number * self.factor) * math.pi ** float(self.turns)


def _unit(factor, m=0, kg=0, s=0, rad=0, turns=0):
    return Unit(Fraction(factor), Fraction(turns), tuple(Fraction(p) for p in (m, kg, s, rad)))


ONE = _unit(1)
_PREFIXES = {"n": "1e-9", "u": "1e-6", "µ": "1e-6", "μ": "1e-6", "m": "1e-3", "k": "1e3", "M": "1e6", "G": "1e9"}
_PREFIXED = {
    "m": _unit(1, m=1),
    "g": _unit("1e-3", kg=1),
    "s": _unit(1, s=1),
    "rad": _unit(1, rad=1),
    "Hz": _unit(1, s=-1),
    "N": _unit(1, m=1, kg=1, s=-2),
    "Pa": _unit(1, m=-1, kg=1, s=-2),
    "J": _unit(1, m=2, kg=1, s=-2),
    "W": _unit(1, m=2, kg=1, s=-3),
}
UNITS = {
    **{prefix + name: unit * _unit(scale) for prefix, scale in _PREFIXES.items() for name, unit in _PREFIXED.items()},
    **_PREFIXED,
    "1": ONE,
    "%": _unit("1e-2"),
    "cm": _unit("1e-2", m=1),
    "dm": _unit("1e-1", m=1),
    "in": _unit("0.0254", m=1),
    "t": _unit(1000, kg=1),
    "min": _unit(60, s=1),
    "h": _unit(3600, s=1),
    "deg": _unit("1/180", rad=1, turns=1),
    "°": _unit("1/180", rad=1, turns=1),
    "rev": _unit(2, rad=1, turns=1),
    "rpm": _unit("1/30", s=-1, rad=1, turns=1),
    "bar": _unit("1e5", m=-1, kg=1, s=-2),
    "mbar": _unit("1e2", m=-1, kg=1, s=-2),
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TOKEN = re.compile(r"\s*(\^|\*\*|[*·⋅/()]|[+-]?\d+\.?\d*(?:/\d+(?=\)))?|[A-Za-zµμ°%]+)")
_PLAIN = str.maketrans({"²": "^2", "³": "^3", "⁴": "^4"})


class UnitError(ValueError):
    """A quantity that cannot be read, or that has another dimension than the one wanted."""


def parse_unit(text):
    """The `Unit` of an expression such as `N*m/rad`, `kg m^2`, `N/m^1.5`, `W/(m*s)`."""
    tokens = _tokens(text.translate(_PLAIN), text)
    unit, rest = _product(tokens, text)
    if rest:
        raise UnitError(f"the unit `{text}` cannot be read from `{rest[0]}` on.")
    return unit


def _tokens(plain, text):
    tokens, at = [], 0
    while plain[at:].strip():
        match = _TOKEN.match(plain, at)
        if not match:
            raise UnitError(f"the unit `{text}` cannot be read from `{plain[at:].strip()}` on.")
        tokens.append(match[1])
        at = match.end()
    if not tokens:
        raise UnitError("the unit is empty.")
    return tokens


def _product(tokens, text):
    unit, tokens = _factor(tokens, text)
    divided = False
    while tokens and tokens[0] != ")":
        sign = 1
        if tokens[0] in ("*", "·", "⋅", "/"):
            sign = -1 if tokens[0] == "/" else 1
            divided = divided or sign < 0
            tokens = tokens[1:]
        elif divided:
            raise UnitError(f"the unit `{text}` is ambiguous: write `*` or brackets after a `/`.")
        factor, tokens = _factor(tokens, text)
        unit = unit * factor**sign
    return unit, tokens


def _factor(tokens, text):
    if not tokens:
        raise UnitError(f"the unit `{text}` ends too early.")
    head, *tokens = tokens
    if head == "(":
        unit, tokens = _product(tokens, text)
        if not tokens:
            raise UnitError(f"the unit `{text}` lacks a closing bracket.")
        tokens = tokens[1:]
    elif head in UNITS:
        unit = UNITS[head]
    else:
        raise UnitError(f"`{head}` is not a unit known here.{did_you_mean(head, UNITS)}")
    if tokens and tokens[0] in ("^", "**"):
        bracket = tokens[1:2] == ["("]
        exponent, *tokens = tokens[2:] if bracket else tokens[1:] or [""]
        try:
            unit = unit ** Fraction(exponent)
        except (ValueError, ZeroDivisionError):
            raise UnitError(f"the unit `{text}` has no number after `^`.") from None
        if bracket:
            tokens = tokens[1:]
    return unit, tokens


def parse_quantity(text, dimension):
    """`"12 mm"` as a float in SI; `dimension` is any unit of the wanted kind (`"m"`, `"N*m/rad"`), or None for any.

    A plain number, without quotes or unit, is SI already.
    """
    try:
        return float(text) if not isinstance(text, str) else _quantity(text, dimension)
    except OverflowError:
        raise UnitError("the number is too large for a 64-bit float.") from None


def _quantity(text, dimension):
    stripped = text.strip()
    match = _NUMBER.match(stripped)
    if not match:
        raise UnitError(f"`{text}` is not a quantity: expected a number and a unit, such as `{_example(dimension)}`.")
    rest = stripped[match.end() :].strip()
    if rest[:1] in ("*", "·"):
        rest = rest[1:].strip()
    elif rest[:1] == "/":
        rest = "1" + rest
    unit = parse_unit(rest) if rest else ONE
    check_dimension(unit, text, dimension)
    return unit.of(Fraction(match[0]))


def check_dimension(unit, text, dimension):
    """Raise `UnitError` unless `unit` is of the kind of `dimension`."""
    if dimension is None:
        return
    wanted = parse_unit(dimension)
    if unit.powers == wanted.powers:
        return
    if unit is ONE:
        raise UnitError(f"`{text}` has no unit; write the plain number for SI ({dimension}), or add a unit to it.")
    raise UnitError(f"`{text}` is in {describe(unit)}; expected {_name(dimension)}, such as `{_example(dimension)}`.")


def describe(unit):
    """The dimension of a unit in base units."""
    parts = [b if p == 1 else f"{b}^{p}" for b, p in zip(BASES, unit.powers, strict=True) if p]
    return "*".join(parts) or "no unit (1)"


def _name(dimension):
    return "a number without unit" if dimension == "1" else dimension


def _example(dimension):
    return "1" if dimension == "1" else f"1 {dimension or 'mm'}"
