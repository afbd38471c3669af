"""P1, figures 15-18: triple pendulum with stops, Lankarani-Nikravesh and modified Kelvin-Voigt (c_e .01 and 0); 4 s."""

import numpy as np

import mbjax as mb

from .study import verdict

LAWS = {
    "Lankarani-Nikravesh": {"stops": "impact"},
    "Kelvin-Voigt": {"stops": "kelvin_voigt"},
    "Kelvin-Voigt, c_e 0": {"stops": "kelvin_voigt", "restitution": 0.0},
}
FIGURES = dict(zip(LAWS, ("figure_16", "figure_17", "figure_18"), strict=True))
BODIES = [f"body{k}.position.{c}" for k in (1, 2, 3) for c in "xz"]
CHANNELS = ["R1.spin", "C2.axial", "R3.spin", "energy.dissipated", *BODIES]


def run(study):
    end, outputs = (1.5, 301) if study.quick else (4.0, 1001)
    runs = {}
    for label, options in LAWS.items():
        mechanism = mb.library.triple_pendulum(**options)
        runs[label] = study.simulate(label, mechanism, end, outputs, CHANNELS, events=500)
        study.figure(f"{FIGURES[label]}_snapshots", _snapshots(runs[label], end), "x [m]", "z [m]", style="o-")
    study.channel("figure_15_swing", runs, "R1.spin", "angle of body 1 [rad]")
    study.channel("sliding", runs, "C2.axial", "sliding in the cylindrical joint [m]")
    study.channel("turning", runs, "R3.spin", "turning of body 3 [rad]")
    study.channel("energy", runs, "energy.dissipated", "dissipated energy [J]")
    lost = [float(r["energy.dissipated"][-1]) for r in runs.values()]
    study.say(
        "Lankarani-Nikravesh loses less than Kelvin-Voigt (c_e .01).",
        f"{lost[0]:.4f} J against {lost[1]:.4f} J", verdict(lost[0] < lost[1]),
    )  # fmt: skip
    times = [e["time"] for e in runs["Kelvin-Voigt, c_e 0"].events.table() if e["event"] == "touch"]
    later = sum(t > 1.1 for t in times)
    study.say(
        "With c_e 0 there is no more contact after the first ones (figure 18).",
        f"{len(times) - later} touches until 1.1 s, {later} after", verdict(later == 0),
    )  # fmt: skip


def _snapshots(run, end):
    """Support and mass centres, joined, at nine instants."""
    ts, found = np.asarray(run.ts), {}
    for t in np.linspace(0.0, end, 9):
        k = int(np.argmin(np.abs(ts - t)))
        x, z = ([0.0, *(float(run[f"body{b}.position.{c}"][k]) for b in (1, 2, 3))] for c in "xz")
        found[f"{t:.2g} s"] = (x, z)
    return found
