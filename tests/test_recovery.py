"""Noise-free data give the parameters back to 1e-6, from starts drawn log-uniformly within x[0.1, 10].

Data are made with Tsit5 at a tighter tolerance than the fit's Dopri8. What a contact makes of a far start is chaotic,
so fits grow their horizon from the first contact on.
"""

import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb

pytestmark = pytest.mark.long
TURN = 60 / 5000
NORMAL = "wall.interface.normal"


def thrown(friction, speed=0.3):
    """A ball thrown along a plane: two contacts, sliding throughout."""
    normal = mb.Impact(mb.Hertz(1e6), mb.Flores(0.8))
    mechanism = mb.library.bouncing_ball(height=0.002, interface=mb.Dry(normal, friction))
    start = mechanism["ball"]
    ball = mb.SpatialBody("ball", 1.0, start.inertia, position=start.position, velocity=(speed, 0.1, 0.0))
    return mechanism.replace("ball", ball)


def on_rubber(branches=()):
    """A block on a bushing, thrown in all six directions."""
    bushing = mb.Bushing(
        [8e4, 6e4, 2e5, 40.0, 50.0, 30.0], damping=[50.0, 60.0, 80.0, 0.05, 0.04, 0.06], branches=branches
    )
    inertia = (0.01, 0.012, 0.015)
    block = mb.SpatialBody("block", 1.0, inertia, velocity=(0.3, 0.2, -0.4), angular_velocity=(1.0, -2.0, 1.5))
    joint = mb.Connection("mount", mb.frame((0, 0, 0), (0, 0, 1), (1, 0, 0)), journal="block", realisation=bushing)
    return mb.Mechanism("on_rubber", bodies=[block], connections=[joint])


SIX = ["block.position.x", "block.position.y", "block.position.z", *(f"block.body_rate.{a}" for a in "xyz")]
BALL = ["ball.position.x", "ball.position.y", "ball.position.z"]


def diagonal(what):
    return {f"mount.{what}.{k}.{k}": (1e-3, 1e7) for k in range(6)}


# Mechanism, channels, end (s), outputs, {path: bounds}, first horizon (s).
CASES = {
    "K and e, ball": (
        lambda: thrown(mb.Frictionless()), BALL, 0.06, 301,
        {f"{NORMAL}.elastic.stiffness": (1e4, 1e8), f"{NORMAL}.hysteresis.restitution": (0.05, 1.0)}, None,
    ),
    "K and e, planar slider-crank": (
        mb.library.planar_slider_crank_clearance, ["slider.position.x", "slider.velocity.x"], 0.0011, 221,
        {"B.interface.normal.elastic.stiffness": (1e9, 1e12), "B.interface.normal.hysteresis.restitution": (0.05, 1.0)},
        2.6e-4,
    ),
    "clearance, planar slider-crank": (
        mb.library.planar_slider_crank_clearance, ["slider.position.x", "slider.velocity.x"], 0.0007, 141,
        {"B.pair.clearance": (2e-5, 8e-3)}, 2.6e-4,
    ),
    "mu, Coulomb": (
        lambda: thrown(mb.Coulomb(0.2)), BALL, 0.1, 101, {"wall.interface.friction.coefficient": (0.01, 3)}, None,
    ),
    "mu, Threlfall": (
        lambda: thrown(mb.Threlfall(0.2)), BALL, 0.1, 101, {"wall.interface.friction.coefficient": (0.01, 3)}, None,
    ),
    "mu, Ambrosio": (
        lambda: thrown(mb.Ambrosio(0.2)), BALL, 0.1, 101, {"wall.interface.friction.coefficient": (0.01, 3)}, None,
    ),
    "mu, piecewise linear": (
        lambda: thrown(mb.PiecewiseLinear(0.1, 0.15)), BALL, 0.1, 101,
        {"wall.interface.friction.kinetic": (0.01, 3)}, None,
    ),
    "mu, Bengisu-Akay": (
        lambda: thrown(mb.BengisuAkay(0.1, 0.15)), BALL, 0.1, 101,
        {"wall.interface.friction.kinetic": (0.01, 3)}, None,
    ),
    "mu, Stribeck": (
        lambda: thrown(mb.Stribeck(0.1, 0.2)), BALL, 0.1, 101,
        {"wall.interface.friction.kinetic": (0.01, 3)}, None,
    ),
    "mu_s and v_s, Stribeck": (
        lambda: thrown(mb.Stribeck(0.1, 0.2, 0.2), 0.15), BALL, 0.1, 101,
        {"wall.interface.friction.static": (0.02, 3), "wall.interface.friction.stribeck_speed": (0.01, 3)}, None,
    ),
    "mu, Dahl": (
        lambda: thrown(mb.Dahl(0.1)), BALL, 0.1, 101, {"wall.interface.friction.coefficient": (0.01, 3)}, None,
    ),
    "sigma_0, LuGre": (
        lambda: thrown(mb.LuGre(0.1, 0.2)), BALL, 0.1, 101, {"wall.interface.friction.stiffness": (1e3, 1e7)}, None,
    ),
    "stiffnesses of a bushing": (on_rubber, SIX, 0.1, 201, diagonal("stiffness"), 0.004),
    "dampings of a bushing": (on_rubber, SIX, 0.1, 201, diagonal("damping"), None),
    "Maxwell branch": (
        lambda: on_rubber((mb.Maxwell([0, 0, 1e5, 0, 0, 0], 0.01),)), SIX, 0.1, 201,
        {"mount.branches.0.stiffness.2.2": (1e3, 1e7), "mount.branches.0.relaxation_time": (1e-4, 1.0)}, None,
    ),
    "film viscosity": (
        mb.library.journal_bearing, ["rotor.x", "rotor.y"], 0.02, 101,
        {"bearing.interface.film.viscosity": (1e-3, 1.0)}, None,
    ),
    "stop position": (
        lambda: mb.library.triple_pendulum(stops="impact"), ["body3.position.x", "body3.position.z"], 0.9, 181,
        {"C2.stops.0.lower": (-2.5, -0.05)}, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_parameters_come_back(case):
    build, channels, end, outputs, unknown, first = CASES[case]
    mechanism = build()
    ts = np.linspace(0.0, end, outputs)
    system = mb.assemble(mechanism)
    made = mb.simulate(
        system, mb.initial_state(system), jnp.asarray(ts), solver=diffrax.Tsit5(), steps=mb.Adaptive(rtol=1e-12)
    )
    columns = {c: np.asarray(made[c]) for c in channels}
    compared = [ident.Compared(c, c, 1e-6 * max(np.std(x), 1e-9)) for c, x in columns.items()]
    data = ident.Experiment("data", ident.Recording(ts, columns), compared)
    random = np.random.default_rng(7)
    true = {path: float(mechanism.value(path)) for path in unknown}
    parameters = []
    for path, (lower, upper) in unknown.items():
        start = float(np.clip(true[path] * 10 ** random.uniform(-1, 1), *np.sort([1.01 * lower, 0.99 * upper])))
        scale = "log" if lower > 0 else "linear"
        parameters.append(ident.Parameter(path, path, start=start, lower=lower, upper=upper, scale=scale))
    problem = ident.Problem(mechanism, parameters, [data], steps=mb.Adaptive(rtol=1e-10))
    horizons = ident.growing_horizons(problem, first) if first else (end,)
    # A stop that is not reached has no derivative: only other starts help.
    starts = 6 if case == "stop position" else 1
    result = ident.fit(problem, horizons=horizons, tolerance=1e-12, most=200, starts=starts)
    found = dict(zip(result.names, result.x, strict=True))
    errors = {path: abs(found[path] / value - 1) for path, value in true.items()}
    assert max(errors.values()) < 1e-6, (errors, result.message)
    assert all(v.word == "identifiable" for v in result.verdicts)
