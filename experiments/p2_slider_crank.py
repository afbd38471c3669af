"""P2, figures 12-17: planar slider-crank at 5000 rpm; dry, dry with friction, hybrid film.

Two turns after a transient of two (all four in the figures). Dry: Lankarani-Nikravesh, K from the radii (6.610e10).
"""

import numpy as np

import mbjax as mb

from .study import verdict

TURN = 60 / 5000  # s
CHANNELS = [
    "slider.position.x",
    "slider.velocity.x",
    "slider.acceleration.x",
    "motor.force",
    "B.radial_h",
    "B.radial_t",
]


def hybrid(stiffness):
    """Squeeze film of SAE 40 (full film), fading over e0 into frictionless dry contact."""
    dry = mb.Dry(mb.Impact(mb.Hertz(stiffness), mb.LankaraniNikravesh(0.9), mb.Raw(), mb.Allowed()))
    return mb.Hybrid(mb.SqueezeFilm(0.4, 0.04, extra=10e-6), dry, 5e-6)


def run(study):
    turns = 1 if study.quick else 4
    end, outputs = turns * TURN, 500 * turns + 1
    build = mb.library.planar_slider_crank_clearance
    cases = {
        "dry": build(),
        "friction": build(friction=mb.Ambrosio(0.03, 1e-4, 1e-3)),
        "hybrid": build(interface=hybrid(mb.hertz_stiffness(0.0095, -0.010))),
    }
    runs = {k: study.simulate(k, m, end, outputs, CHANNELS) for k, m in cases.items()}
    for number, channel, unit in ((12, "velocity", "m/s"), (13, "acceleration", "m/s^2")):
        study.channel(f"figure_{number}_slider_{channel}", runs, f"slider.{channel}.x", f"slider {channel} [{unit}]")
    study.channel("figure_14_crank_moment", runs, "motor.force", "crank moment [N m]")
    paths = {k: (np.asarray(r["B.radial_h"]), np.asarray(r["B.radial_t"])) for k, r in runs.items()}
    study.figure("figure_15_journal_path", paths, "h [m]", "t [m]", style=".")
    late = np.asarray(runs["dry"].ts) >= (turns / 2) * TURN
    peaks = {k: float(np.abs(np.asarray(r["slider.acceleration.x"]))[late].max()) for k, r in runs.items()}
    study.say(
        "Friction and film reduce the peaks of the dry joint.",
        ", ".join(f"{k} {v:.3g} m/s^2" for k, v in peaks.items()),
        verdict(peaks["friction"] < peaks["dry"] and peaks["hybrid"] < peaks["dry"]),
    )
    study.say(
        "The response is predictable.",
        "pointwise only to about .9 turn without friction: errors grow by about e^8 per turn; compare statistics after",
        "refuted",
    )
