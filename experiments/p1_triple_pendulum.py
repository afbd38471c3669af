"""P1, figures 15-18: triple pendulum with stops, Lankarani-Nikravesh and modified Kelvin-Voigt; 4 s."""

import numpy as np

import mbjax as mb

from .study import verdict

LAWS = {"Lankarani-Nikravesh": "impact", "Kelvin-Voigt": "kelvin_voigt"}
CHANNELS = ["R1.spin", "C2.axial", "C2.spin", "R3.spin", "body3.position.x", "body3.position.z", "energy.dissipated"]


def run(study):
    end, outputs = (1.5, 301) if study.quick else (4.0, 1001)
    runs = {}
    for label, stops in LAWS.items():
        mechanism = mb.library.triple_pendulum(stops=stops)
        known = [c for c in CHANNELS if c.split(".")[0] in {p.name for p in mechanism.parts} or c.startswith("energy")]
        runs[label] = study.simulate(label, mechanism, end, outputs, known)
    study.channel("figure_15_swing", runs, "R1.spin", "angle of body 1 [rad]")
    study.channel("figure_16_sliding", runs, "C2.axial", "sliding in the cylindrical joint [m]")
    study.channel("figure_17_energy", runs, "energy.dissipated", "dissipated energy [J]")
    places = {k: (np.asarray(r["body3.position.x"]), np.asarray(r["body3.position.z"])) for k, r in runs.items()}
    study.figure("figure_18_path", places, "x [m]", "z [m]")
    lost = [float(r["energy.dissipated"][-1]) for r in runs.values()]
    study.say(
        "Lankarani-Nikravesh loses less than Kelvin-Voigt (c_e .01).",
        f"{lost[0]:.4f} J against {lost[1]:.4f} J",
        verdict(lost[0] < lost[1]),
    )
