"""Derivatives by every parameter of an imperfect joint, through contacts, against differences of tight runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from differences import richardson

import mbjax as mb

TURN = 60 / 5000


def thrown(friction):
    """A ball thrown along a plane: two contacts, sliding throughout."""
    normal = mb.Impact(mb.Hertz(1e6), mb.Flores(0.8))
    mechanism = mb.library.bouncing_ball(height=0.002, interface=mb.Dry(normal, friction))
    start = mechanism["ball"]
    ball = mb.SpatialBody("ball", 1.0, start.inertia, position=start.position, velocity=(0.3, 0.1, 0.0))
    keep = ["wall.interface.friction", "wall.interface.normal.elastic.stiffness", "wall.pair.radius"]
    channels = ["ball.position.x", "ball.position.y", "ball.velocity.z"]
    return mechanism.replace("ball", ball), keep, 0.12, channels, 2e-5


def slider(interface=None, friction=None, turns=0.25, h=1e-3):
    mechanism = mb.library.planar_slider_crank_clearance(interface=interface, friction=friction)
    return mechanism, ["B.pair", "B.interface"], turns * TURN, ["slider.position.x", "rod.angle"], h


def stopped(kind):
    mechanism = mb.library.triple_pendulum(stops=kind)
    joint = "C2"
    return mechanism, [f"{joint}.stops"], 0.9, ["body3.position.x", "body3.position.z"], 2e-3


SOFT = mb.Dry(mb.Impact(mb.Hertz(1e8), mb.Flores(0.6)))
CASES = {
    "Threlfall": lambda: thrown(mb.Threlfall(0.2, 1e-2)),
    "Ambrosio": lambda: thrown(mb.Ambrosio(0.2, 1e-3, 1e-2)),
    "Stribeck": lambda: thrown(mb.Stribeck(0.1, 0.2, 1e-2, 3.0, 1e-2)),
    "PiecewiseLinear": lambda: thrown(mb.PiecewiseLinear(0.1, 0.15, 1e-3, 1e-2)),
    "BengisuAkay": lambda: thrown(mb.BengisuAkay(0.1, 0.15, 1e-3, 1e3)),
    "Dahl": lambda: thrown(mb.Dahl(0.1)),
    "LuGre": lambda: thrown(mb.LuGre(0.1, 0.2, viscosity=0.5)),
    "clearance with friction": lambda: slider(friction=mb.Threlfall(0.05, 0.1), turns=0.12, h=1e-5),
    "squeeze film": lambda: slider(mb.Lubricated(mb.SqueezeFilm(0.4, 0.04, 1e-5))),
    "half squeeze film": lambda: slider(mb.Lubricated(mb.SqueezeFilm(0.4, 0.04, 1e-5, cavitation=True))),
    "hybrid": lambda: slider(mb.Hybrid(mb.SqueezeFilm(2e-3, 0.04, 1e-5), SOFT, 5e-6), h=1e-4, turns=0.12),
    "short film": lambda: (mb.library.journal_bearing(), ["bearing"], 0.02, ["rotor.x", "rotor.y"], 1e-3),
    "impact stop": lambda: stopped("impact"),
    "kelvin-voigt stop": lambda: stopped("kelvin_voigt"),
}


def _run_by(case):
    return pytest.mark.slow if case == "Stribeck" else pytest.mark.long


@pytest.mark.parametrize("case", [pytest.param(case, marks=_run_by(case)) for case in CASES])
def test_derivatives_by_every_parameter_of_the_joint(case):
    mechanism, keep, end, channels, h = CASES[case]()
    known = [p for k in keep for p in mechanism.parameters(k) if ".frame." not in p]
    paths = [p for p in known if np.any(np.asarray(mechanism.value(p)))]
    system = mb.assemble(mechanism)
    state = mb.initial_state(system)
    values = [jnp.asarray(mechanism.value(p)) for p in paths]

    def run(change, rtol):
        bound = system.bind({k: v * (1 + d) for k, v, d in zip(paths, values, change, strict=True)})
        return mb.simulate(bound, state, jnp.array([0.0, end]), steps=mb.Adaptive(rtol=rtol), throw=False)[channels][-1]

    zero = jnp.zeros(len(paths))
    exact = jax.jit(lambda change: run(change, 1e-12))
    expected = richardson(exact, len(paths), h, steps=(1, 2))
    found = np.asarray(jax.jit(jax.jacfwd(lambda change: run(change, 1e-8)))(zero))
    # Differences see nothing below 1e-7 of the largest sensitivity: their own noise.
    scale = np.abs(expected).max(axis=0)
    allowed = 1e-4 * scale + 1e-7 * scale.max()
    misses = {p: e / s for p, e, s in zip(paths, np.abs(found - expected).max(axis=0), allowed, strict=True)}
    assert np.isfinite(found).all() and max(misses.values()) < 1, misses
