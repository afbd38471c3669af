"""Bifurcation of the planar slider-crank with clearance over the clearance (Poincare sections, once per turn)."""

import numpy as np

import identification as ident
import mbjax as mb
from identification import measure
from identification.sweep import plot

CHANNEL = "slider.velocity.x"


def run(study):
    points, turns, skipped = (7, 6, 3) if study.quick else (60, 40, 20)
    mechanism = mb.library.planar_slider_crank_clearance(friction=mb.Threlfall(0.01, 0.1))
    speed = float(mechanism.value("motor.signal.speed"))
    turn = 2 * np.pi / abs(speed)
    section = measure.Poincare([CHANNEL], turn, turns - skipped, skipped * turn)
    ts = np.concatenate([[0.0], section.ts])
    axes = {"B.pair.clearance": np.linspace(0.02e-3, 0.5e-3, points)}
    for path, values in axes.items():
        folder = study.folder / "clearance"
        found = ident.sweep(mechanism, {path: values}, section, ts, out=folder, chunk=10, steps=mb.Adaptive(rtol=1e-6))
        plot.bifurcation(found, path, CHANNEL, study.folder / "clearance.png")
        study.numbers["clearance"] = {"variants": len(found), "failed": int(found.failed.size)}
        spread = found.measures.max(axis=1) - found.measures.min(axis=1)
        study.say(
            "The motion repeats every turn for small clearances only.",
            f"spread of the section {spread[0]:.3g} m/s at {1e3 * values[0]:.3g} mm, {spread[-1]:.3g} m/s at "
            f"{1e3 * values[-1]:.3g} mm",
            "reproduced" if spread[-1] > spread[0] else "refuted",
        )
