"""P4 figure 3, P5 figure 4: spatial slider-crank, revolute clearance with end planes; friction laws; 1 s.

Axial clearance .05 mm (P4) and .5 mm (P5), K 6.71e10 N/m^1.5, e .9.
"""

import numpy as np

import mbjax as mb

from .study import verdict

CHANNELS = ["slider.position.x", "slider.velocity.x", "slider.acceleration.x", "energy.total"]
LAWS = {
    "frictionless": None,
    "Coulomb": mb.Coulomb(0.1),
    "Stribeck": mb.Stribeck(0.1, 0.2),
    "Dahl": mb.Dahl(0.1),
    "LuGre": mb.LuGre(0.1, 0.2),
}


def run(study):
    end, outputs = (0.15, 151) if study.quick else (1.0, 2001)
    build = mb.library.marques_slider_crank_clearance
    ideal = study.simulate("ideal", mb.library.marques_slider_crank(), end, outputs, CHANNELS)
    for paper, axial in (("P4", 0.05e-3), ("P5", 0.5e-3)):
        if study.quick and paper == "P4":
            continue
        runs = {"ideal": ideal}
        for label, law in LAWS.items():
            if (study.quick or paper == "P4") and label not in ("frictionless", "Coulomb"):
                continue
            mechanism = build(axial_clearance=axial, friction=law)
            runs[label] = study.simulate(f"{paper} {label}", mechanism, end, outputs, CHANNELS, rtol=1e-7)
        for what, unit in (("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s^2")):
            study.channel(f"{paper}_{what}", runs, f"slider.{what}.x", f"slider {what} [{unit}]")
        study.channel(f"{paper}_energy", runs, "energy.total", "mechanical energy [J]")
        phase = {k: (r["slider.position.x"], r["slider.velocity.x"]) for k, r in runs.items()}
        study.figure(f"{paper}_phase", phase, "slider position [m]", "slider velocity [m/s]")
        peaks = {k: float(np.quantile(np.abs(r["slider.acceleration.x"]), 0.99)) for k, r in runs.items()}
        study.say(
            f"{paper}: clearance raises the peaks of acceleration, friction lowers them again.",
            ", ".join(f"{k} {v:.4g} m/s^2" for k, v in peaks.items()),
            verdict(peaks["ideal"] < peaks["Coulomb"] < peaks["frictionless"]),
        )
