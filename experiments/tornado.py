"""Tornado of the planar slider-crank with clearance: which number moves the slider's motion."""

import numpy as np

import identification as ident
import mbjax as mb
from identification import measure
from identification.sweep import plot

PARAMETERS = (
    "B.interface.normal.elastic.stiffness", "B.interface.normal.hysteresis.restitution", "B.pair.clearance",
    "slider.mass", "rod.mass", "rod.inertia",
)  # fmt: skip


def run(study):
    parameters = PARAMETERS[:3] if study.quick else PARAMETERS
    end = (0.2 if study.quick else 0.4) * 60 / 5000
    found = ident.sensitivity(
        mb.library.planar_slider_crank_clearance(), ["slider.position.x", "slider.velocity.x"], parameters,
        np.linspace(0.0, end, 101), measures=[measure.Contacts("B", "peak force", 2)], trust=not study.quick,
    )  # fmt: skip
    study.folder.mkdir(parents=True, exist_ok=True)
    plot.tornado(found, study.folder / "tornado.png")
    found.plot(study.folder / "sensitivity.png")
    study.numbers["ranking"] = {p: s for p, _, s in found.ranking()}
    best = found.ranking()[0]
    study.say("Which number matters most?", f"{best[0]}, for {best[1]}", "found")
