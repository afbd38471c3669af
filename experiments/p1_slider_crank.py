"""P1, figures 8-13: 3-D slider-crank, ideal, spherical clearance at B, revolute clearance at A.

Table 2 and CONVENTIONS: K 5e6 N/m^1.5 taken literally, n 1.5, e .75, rate ratio clipped, cut at 0; 5 s.
"""

import numpy as np

import mbjax as mb

from .study import verdict

SIZES = {"0": 0.0, "1 um": 1e-6, "0.1 mm": 1e-4, "1 mm": 1e-3}  # clearances, m
CHANNELS = ["slider.position.x", "crank.angular_velocity.x", "B.reaction.x", "A.reaction.z", "energy.dissipated"]


def run(study):
    end = 1.5 if study.quick else 5.0
    outputs = 301 if study.quick else 1001
    ideal = study.simulate("ideal", mb.library.slider_crank_3d(), end, outputs, CHANNELS)
    spheres, cylinders = {"ideal": ideal}, {"ideal": ideal}
    for label, size in SIZES.items():
        if study.quick and label in ("0", "1 um"):
            continue
        sphere = mb.library.slider_crank_3d_spherical_clearance(clearance=size)
        spheres[label] = study.simulate(f"sphere {label}", sphere, end, outputs, CHANNELS)
        if size:
            cylinder = mb.library.slider_crank_3d_revolute_clearance(clearance=size)
            cylinders[label] = study.simulate(f"cylinder {label}", cylinder, end, outputs, CHANNELS)
    study.channel("figure_8_slider_position", spheres, "slider.position.x", "slider position [m]")
    study.channel("figure_10_reaction", spheres, "B.reaction.x", "reaction at B along x [N]")
    study.channel("figure_11_slider_position", cylinders, "slider.position.x", "slider position [m]")
    study.channel("figure_12_reaction", cylinders, "A.reaction.z", "reaction at A along z [N]")
    angles = {k: (np.asarray(r.ts), _turned(r)) for k, r in spheres.items()}
    study.figure("figure_9_crank_angle", angles, "t [s]", "crank angle [rad]")
    rough = [np.abs(np.diff(spheres[k]["B.reaction.x"])).sum() for k in ("0.1 mm", "1 mm")]
    study.say(
        "The oscillations of the reaction grow with the clearance (.1 mm against 1 mm).",
        f"total variation {rough[0]:.3g} and {rough[1]:.3g} N",
        verdict(rough[1] > rough[0]),
    )
    if not study.quick:
        off = np.abs(np.asarray(spheres["1 um"]["slider.position.x"] - ideal["slider.position.x"])).max()
        study.say(
            "A very small clearance behaves like the perfect joint (K in N/m^1.5).",
            f"the slider is up to {1e3 * off:.0f} mm off with 1 um: the stiffness is small",
            verdict(off < 1e-3),
        )
        angle = _turned(spheres["1 mm"])
        study.say(
            "Eventually the crank cannot complete a rotation (1 mm).",
            f"it turns back after {angle.max() / 2 / np.pi:.2f} turns",
            verdict(angle[-1] < angle.max() - 0.4),
        )


def _turned(run):
    """Crank angle (rad); the crank's axis may tilt in a clearance."""
    rate, ts = np.asarray(run["crank.angular_velocity.x"]), np.asarray(run.ts)
    return np.concatenate([[0.0], np.cumsum(np.diff(ts) * (rate[1:] + rate[:-1]) / 2)])
