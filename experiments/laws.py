"""Pictures of the laws: normal forces over depth, friction over slip, bristles, films, bushings.

Normal laws: a ball of 1 kg dropped from 5 mm (.31 m/s), force over depth in its first contact. Friction at 1 N;
bristles pulled to and fro; films over eccentricity at fixed speeds; a bushing's loops and its stiffness over frequency.
"""

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb
from mbjax.contact.normal.elastic import Linear

E_STAR = 1.137e11  # Pa, steel on steel


HEIGHT, LONGEST = 0.005, 0.012  # m; s, of a contact


def contact(law):
    """Depth (um) and force (N) through the first contact of a dropped ball."""
    system = mb.assemble(mb.library.bouncing_ball(height=HEIGHT, interface=mb.Dry(law)))
    touch = np.sqrt(2 * HEIGHT / 9.81)
    ts = np.concatenate([[0.0], touch + np.linspace(0.0, LONGEST, 1200)])
    run = mb.simulate(system, mb.initial_state(system), ts, steps=mb.Adaptive(rtol=1e-8))
    depth, force = (np.asarray(run[f"wall.{c}"])[1:] for c in ("penetration", "reaction.z"))
    inside = np.cumsum((depth < 0) & (np.arange(depth.size) > 2)) == 0
    return 1e6 * np.maximum(depth, 0.0)[inside], force[inside]


def normal(study):
    hertz, linear = mb.Hertz(1e8), Linear(1e6)
    factors = {
        "no hysteresis": mb.contact.normal.hysteresis.NoHysteresis(), "Hunt-Crossley .8": mb.HuntCrossley(0.8),
        "Lankarani-Nikravesh .8": mb.LankaraniNikravesh(0.8), "Flores .8": mb.Flores(0.8),
        "Gonthier .8": mb.Gonthier(0.8),
    }  # fmt: skip
    shown = list(factors)[-1:] if study.quick else factors
    curves = {k: contact(mb.Impact(hertz, factors[k])) for k in shown}
    study.figure("hysteresis", curves, "depth [um]", "force [N]")
    others = {
        "RestitutionSpring .8": mb.RestitutionSpring(linear, 0.8),
        "SmoothRestitutionSpring .8, 50 mm/s": mb.SmoothRestitutionSpring(linear, 0.8, 0.05),
        "DampedLayer, 300 N s/m": mb.DampedLayer(linear, 300.0),
        "Staged: layer, then Hertz at .1 mm": mb.Staged(
            mb.DampedLayer(linear, 300.0), mb.Impact(mb.Hertz(1e9), mb.Flores(0.8)), 1e-4, 2e-5
        ),
    }
    shown = list(others)[:1] if study.quick else others
    study.figure("springs_and_layers", {k: contact(others[k]) for k in shown}, "depth [um]", "force [N]")
    depth = np.linspace(0.0, 2e-5, 200)
    elastic = {
        "Linear 2.5e8 N/m": Linear(2.5e8), "Hertz 6.6e10 N/m^1.5": mb.Hertz(6.6e10),
        "Pereira, DR .1 mm, 5 mm": mb.Pereira(1e-4, 0.005, E_STAR),
    }  # fmt: skip
    curves = {k: (1e6 * depth, np.asarray(law.force(jnp.asarray(depth)))) for k, law in elastic.items()}
    study.figure("elastic", curves, "depth [um]", "force [N]")


def friction(study):
    speed = np.linspace(-5e-3, 5e-3, 801)
    laws = {
        "Coulomb, Threlfall": mb.Coulomb(0.1), "Ambrosio": mb.Ambrosio(0.1), "Stribeck": mb.Stribeck(0.1, 0.15),
        "piecewise linear": mb.PiecewiseLinear(0.1, 0.15, 3e-4), "Bengisu-Akay": mb.BengisuAkay(0.1, 0.15, 3e-4),
    }  # fmt: skip

    def force(law):
        slip = jnp.asarray(speed)[:, None] * np.array([1.0, 0.0, 0.0])
        return -np.asarray(law(slip, jnp.ones(speed.size), jnp.zeros((speed.size, 0)))[0][:, 0])

    curves = {k: (1e3 * speed, force(law)) for k, law in laws.items()}
    study.figure("friction", curves, "slip [mm/s]", "friction over normal force")
    study.figure("bristles", {n: _pulled(law) for n, law in BRISTLES.items()}, "place [um]", "friction [N]")


BRISTLES = {"Dahl": mb.Dahl(0.1, 1e5), "LuGre": mb.LuGre(0.1, 0.15, 1e5, stribeck_speed=1e-4)}


def _pulled(law):
    """Force on a point pulled to and fro by 20 um in .2 s under 10 N, a second turn."""
    t, normal = jnp.linspace(0.0, 0.4, 8001), jnp.full(1, 10.0)
    x, v = 2e-5 * jnp.sin(10 * jnp.pi * t), 2e-4 * jnp.pi * jnp.cos(10 * jnp.pi * t)

    def step(bristle, speed):
        force, rate = law(jnp.array([[speed, 0.0, 0.0]]), normal, bristle)
        return bristle + rate * (t[1] - t[0]), -force[0, 0]

    force = jax.lax.scan(step, jnp.zeros((1, 3)), v)[1]
    return 1e6 * np.asarray(x)[2000::4], np.asarray(force)[2000::4]


def films(study):
    radius, clearance = 0.025, 50e-6
    eps = np.linspace(0.01, 0.95, 200)

    def load(film, spin, rate):
        def at(e):
            force = film.force(
                jnp.array([1.0, 0, 0]) * e * clearance, jnp.array([1.0, 0, 0]) * rate, spin, radius, clearance
            )
            return jnp.linalg.norm(force)

        return eps, np.asarray(jax.vmap(at)(jnp.asarray(eps)))

    squeeze, half = (mb.SqueezeFilm(0.02, 0.12, cavitation=c) for c in (False, True))
    curves = {
        "squeeze, full, towards the wall at 10 mm/s": load(squeeze, 0.0, 0.01),
        "squeeze, half, towards the wall": load(half, 0.0, 0.01),
        "squeeze, half, off the wall": load(half, 0.0, -0.01),
        "Ocvirk, half, turning at 300 rad/s": load(mb.ShortFilm(0.02, 0.02), 300.0, 0.0),
    }
    study.figure("films", curves, "eccentricity ratio", "force [N]", scale="log")


def bushings(study):
    def axial(x):
        return [0.0, 0.0, x, 0.0, 0.0, 0.0]

    branches = (mb.Maxwell(axial(1e5), 5e-3), mb.BoucWen(axial(2e5), axial(40.0)))
    rubber = mb.Bushing([1e6, 1e6, 2e5, 50.0, 50.0, 50.0], branches=branches)
    amplitudes = np.array([1e-4, 3e-4, 1e-3])
    slow = mb.bushing_rig(rubber, "b", amplitudes, [1.0])
    steps = slow.force.shape[-1]
    swing = np.sin(2 * np.pi * np.arange(steps + 1) / steps)
    loops = {
        f"{1e3 * a:g} mm": (1e3 * a * swing, np.append(f, f[0]))
        for a, f in zip(amplitudes, np.asarray(slow.force)[:, 0], strict=True)
    }
    study.figure("bushing_loops", loops, "deflection [mm]", "force [N]")
    frequencies = np.geomspace(1.0, 200.0, 8 if study.quick else 25)
    swept = mb.bushing_rig(rubber, "b", amplitudes, frequencies)
    curves = {
        f"{1e3 * a:g} mm": (frequencies, 1e-3 * k)
        for a, k in zip(amplitudes, np.asarray(swept.dynamic_stiffness), strict=True)
    }
    study.figure("bushing_stiffness", curves, "frequency [Hz]", "dynamic stiffness [N/mm]")


def run(study):
    for part in (normal, friction, films, bushings):
        part(study)
    study.say("Laws drawn", "see the figures", "found")
