"""Bifurcation of the planar slider-crank with clearance over the clearance and over the speed of the crank.

Poincare sections, once per turn, after a transient.
"""

import jax.numpy as jnp
import numpy as np

import identification as ident
import mbjax as mb
from identification import measure
from identification.sweep import plot

CHANNEL = "slider.velocity.x"


def run(study):
    points, turns, skipped = (7, 6, 3) if study.quick else (60, 40, 20)
    mechanism = mb.library.planar_slider_crank_clearance(friction=mb.Threlfall(0.01, 0.1))
    path = "motor.signal.speed"
    speed = float(mechanism.value(path))
    turn = 2 * np.pi / abs(speed)
    section = measure.Poincare([CHANNEL], turn, turns - skipped, skipped * turn)
    ts = np.concatenate([[0.0], section.ts])
    clearances = np.linspace(0.02e-3, 0.5e-3, points)
    found = ident.sweep(
        mechanism, {"B.pair.clearance": clearances}, section, ts, out=study.folder / "clearance", chunk=10,
        steps=mb.Adaptive(rtol=1e-6),
    )  # fmt: skip
    plot.bifurcation(found, "B.pair.clearance", CHANNEL, study.folder / "clearance.png")
    study.numbers["clearance"] = {"variants": len(found), "failed": int(found.failed.size)}
    tell(study, "clearances", 1e3 * clearances, "mm", found.measures)

    # The period of the section changes with the speed, so every speed has its own output times.
    system = mb.assemble(mechanism)

    @mb.compiled
    def velocities(speed):
        bound = system.bind({path: speed})
        turn = 2 * jnp.pi / jnp.abs(speed)
        ts = turn * jnp.append(0.0, jnp.arange(skipped, turns))
        run = mb.simulate(bound, mb.initial_state(bound), ts, steps=mb.Adaptive(rtol=1e-6), throw=False)
        return run[CHANNEL][1:]

    speeds = speed * np.linspace(0.04, 1.0, points)
    sections = np.array([velocities(s) for s in speeds])
    rpm = np.abs(speeds) * 30 / np.pi
    curves = {f"turn {k}": (rpm, column) for k, column in enumerate(sections.T)}
    study.figure("speed", curves, "crank speed [1/min]", f"{CHANNEL}, once per turn", style="k.", legend=False)
    study.numbers["speed"] = {"variants": points, "failed": int((~np.isfinite(sections).all(axis=1)).sum())}
    tell(study, "speeds", rpm, "1/min", sections)


def tell(study, what, values, unit, sections):
    spread = sections.max(axis=1) - sections.min(axis=1)
    study.say(
        f"The motion repeats every turn for small {what} only.",
        f"spread of the section {spread[0]:.3g} m/s at {values[0]:.3g} {unit}, {spread[-1]:.3g} m/s at "
        f"{values[-1]:.3g} {unit}",
        "reproduced" if spread[-1] > spread[0] else "refuted",
    )
