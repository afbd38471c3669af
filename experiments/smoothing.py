"""What smoothing does: every law that can be rounded against its sharp form, over several widths.

For each width: the change of the largest force (or, for friction, of the energy lost), of the motion and of its
derivative by one number of the law. P2's slider-crank: its first .05 turns (dry), .12 (hybrid), .25 (film). A ball of
1 kg dropped from 2 mm: one contact (layers, springs). The same ball thrown along the plane, two contacts: at 1 m/s it
slides all the time, at 1 cm/s friction stops it in the first (place of the ball at the end).
"""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

TURN = 60 / 5000  # s


class Case(NamedTuple):
    law: str
    mechanism: mb.Mechanism
    rounding: str  # path of the number that smooths
    widths: tuple  # m or m/s; the first is the sharp limit
    number: str  # path the derivative is by
    end: float  # s
    channels: tuple  # of the motion, and of the force or loss
    scale: float  # of the motion


def planar(law, interface, rounding, widths, number, turns, force="B.reaction.x"):
    mechanism = mb.library.planar_slider_crank_clearance(interface=interface)
    channels = ("slider.position.x", force)
    return Case(
        law, mechanism, "B.interface." + rounding, widths, "B.interface." + number, turns * TURN, channels, 5e-4
    )


def ball(law, interface, rounding, widths, number, slip=None):
    mechanism = mb.library.bouncing_ball(height=0.002, interface=interface)
    channels, scale, end = ("ball.position.z", "wall.reaction.z"), 2e-3, 0.04
    if slip is not None:
        start = mechanism["ball"]
        thrown = mb.SpatialBody("ball", 1.0, start.inertia, position=start.position, velocity=(slip, 0.1 * slip, 0.0))
        mechanism, channels, scale, end = (
            mechanism.replace("ball", thrown),
            ("ball.position.x", "energy.dissipated"),
            0.1 * slip,
            0.12,
        )
    return Case(law, mechanism, "wall.interface." + rounding, widths, "wall.interface." + number, end, channels, scale)


def cases():
    hertz = mb.Impact(mb.Hertz(mb.hertz_stiffness(0.0095, -0.010)), mb.Flores(0.9))
    soft, linear = mb.Impact(mb.Hertz(1e6), mb.Flores(0.8)), mb.contact.normal.elastic.Linear(1e5)
    lengths, speeds, K = (0.0, 1e-8, 1e-7, 1e-6), (0.0, 1e-5, 1e-4), "normal.elastic.stiffness"
    yield planar("`Impact`, `smoothing` [m]", mb.Dry(hertz), "normal.smoothing", lengths, K, 0.05)
    yield ball("`DampedLayer`, `smoothing` [m]", mb.Dry(mb.DampedLayer(linear, 50.0)), "normal.smoothing", lengths, K)
    spring = mb.Dry(mb.SmoothRestitutionSpring(linear, 0.8, 1e-6))
    yield ball("`SmoothRestitutionSpring`, `speed` [m/s]", spring, "normal.speed", (1e-6, 1e-4, 1e-3, 1e-2), K)
    layer = mb.DampedLayer(linear, 50.0)
    staged = mb.Dry(mb.Staged(layer, mb.Impact(mb.Hertz(1e8), mb.Flores(0.8)), 2e-4, 1e-8))
    yield ball(
        "`Staged`, `blend_range` [m]",
        staged,
        "normal.blend_range",
        (1e-8, 1e-7, 1e-6, 1e-5),
        "normal.soft.elastic.stiffness",
    )
    for slip in (1.0, 0.01):
        named = f" at {slip:g} m/s"
        sign, rest = (1e-4 * slip, 1e-3 * slip, 1e-2 * slip, 1e-1 * slip), (0.0, 1e-4 * slip, 1e-3 * slip, 1e-2 * slip)
        for law, rounding, widths, number in (
            (mb.Coulomb(0.2), "speed", sign, "coefficient"),
            (mb.Threlfall(0.2), "speed", sign, "coefficient"),
            (mb.Stribeck(0.1, 0.2, 0.01), "speed", sign, "kinetic"),
            (mb.Ambrosio(0.2, 1e-4, 1e-3), "smoothing", speeds, "coefficient"),
            (mb.PiecewiseLinear(0.1, 0.15, 1e-4, 1e-3), "smoothing", speeds, "kinetic"),
            (mb.BengisuAkay(0.1, 0.15, 1e-4, 1000.0), "smoothing", speeds, "kinetic"),
            (mb.Dahl(0.1), "smoothing", rest, "coefficient"),
            (mb.LuGre(0.1, 0.2), "smoothing", rest, "kinetic"),
        ):
            if slip == 1.0 and rounding == "smoothing":
                continue  # nothing to see: it slides far beyond the corners
            name = f"`{type(law).__name__}`, `{rounding}` [m/s]{named}"
            yield ball(name, mb.Dry(soft, law), "friction." + rounding, widths, "friction." + number, slip)
    half = mb.Lubricated(mb.SqueezeFilm(0.4, 0.04, 1e-5, cavitation=True))
    yield planar(
        "`SqueezeFilm`, half, `smoothing` [m/s]", half, "film.smoothing", (0.0, 1e-4, 1e-2, 1.0), "film.viscosity", 0.25
    )
    hybrid = mb.Hybrid(mb.SqueezeFilm(2e-3, 0.04, 1e-5), mb.Dry(hertz), 1e-8)
    yield planar("`Hybrid`, `boundary` [m]", hybrid, "boundary", (1e-8, 1e-7, 1e-6, 5e-6), "film.viscosity", 0.12)


def effect(case, quick):
    """Rows of the table."""
    system = mb.assemble(case.mechanism)
    state = mb.initial_state(system)
    number = jnp.asarray(case.mechanism.value(case.number), dtype=float)
    motion, force = case.channels
    ts = jnp.linspace(0.0, case.end, 201)

    @mb.compiled
    def run(width):
        def simulated(change):
            bound = system.bind({case.rounding: width, case.number: number * (1 + change)})
            run = mb.simulate(bound, state, ts, steps=mb.Adaptive(rtol=1e-10), events=40)
            if force == "energy.dissipated":
                size = run[force][-1]
            else:  # by the log, where something touches
                size = jnp.abs(run[force]).max() if run.log is None else jnp.nanmax(run.log.peak, initial=0.0)
            return run[motion][-1], (run[motion][-1], size, run.statistics.steps)

        return jax.jacfwd(simulated, has_aux=True)(0.0)

    widths = case.widths[:: len(case.widths) - 1] if quick else case.widths
    slope0, (x0, size0, steps0) = run(jnp.asarray(widths[0]))
    rows = [[case.law, widths[0], 0.0, 0.0, 0.0, int(steps0)]]
    for width in widths[1:]:
        slope, (x, size, steps) = run(jnp.asarray(width))
        changes = (size / size0 - 1, abs(x - x0) / case.scale, slope / slope0 - 1)
        rows.append([case.law, width, *map(float, changes), int(steps)])
    return rows


def run(study):
    rows = []
    for case in itertools.islice(cases(), *((1, 2) if study.quick else (None,))):  # quick: a single ball
        rows += effect(case, study.quick)
        print(f"  {case.law}: derivative changed by {rows[-1][4]:.1e} at {rows[-1][1]:g}", flush=True)
    study.table(
        "smoothing",
        ["law", "smoothing", "change of peak force or loss", "change of motion", "change of derivative", "steps"],
        rows,
    )
    worst = max(abs(r[4]) for r in rows if np.isfinite(r[4]))
    study.say("Largest change of a derivative", f"{worst:.3g} of itself", "found")
