"""P1, figures 8-13: 3-D slider-crank, ideal, spherical clearance at B, revolute clearance at A, damped and not.

K 5e6 in N/m^1.5, as CONVENTIONS takes it, and in N/mm^1.5, which P1 most likely meant; n 1.5, e .75, rate ratio
clipped, cut at 0; 5 s. Figure 13: the bearing without clearance, with e .75 and 1 as printed, and with a ratio that is
not clipped.
"""

import numpy as np

import mbjax as mb

from .study import verdict

SIZES = {"0": 0.0, "1 um": 1e-6, "0.1 mm": 1e-4, "1 mm": 1e-3}  # clearances, m
UNITS = {"N/m": 5e6, "N/mm": 5e6 * 1000**1.5}  # N/m^1.5
CHANNELS = ["slider.position.x", "crank.angular_velocity.x", "B.reaction.x", "A.reaction.z", "energy.dissipated"]


def run(study):
    end, outputs = (1.5, 301) if study.quick else (5.0, 1001)
    ideal = study.simulate("ideal", mb.library.slider_crank_3d(), end, outputs, CHANNELS)

    def clearances(joint, build, unit):
        runs = {"ideal": ideal}
        for label, size in SIZES.items():
            if not study.quick or (label == "1 mm" and unit == "N/m"):
                mechanism = build(clearance=size, stiffness=UNITS[unit])
                runs[label] = study.simulate(f"{joint} {label}, {unit}", mechanism, end, outputs, CHANNELS)
        return runs

    for unit in UNITS:
        spheres = clearances("sphere", mb.library.slider_crank_3d_spherical_clearance, unit)
        cylinders = clearances("cylinder", mb.library.slider_crank_3d_revolute_clearance, unit)
        tag = unit.replace("/", "_per_")
        study.channel(f"figure_8_slider_position_{tag}", spheres, "slider.position.x", "slider position [m]")
        study.channel(f"figure_10_reaction_{tag}", spheres, "B.reaction.x", "reaction at B along x [N]")
        study.channel(f"figure_11_slider_position_{tag}", cylinders, "slider.position.x", "slider position [m]")
        study.channel(f"figure_12_reaction_{tag}", cylinders, "A.reaction.z", "reaction at A along z [N]")
        for number, runs in ((9, spheres), (11, cylinders)):
            angles = {k: (np.asarray(r.ts), _turned(r)) for k, r in runs.items()}
            study.figure(f"figure_{number}_crank_angle_{tag}", angles, "t [s]", "crank angle [rad]")
        if not study.quick:
            _statements(study, unit, ideal, spheres, cylinders)
    _damping(study, ideal, end, outputs)


def _statements(study, unit, ideal, spheres, cylinders):
    off = {k: 1e3 * np.abs(np.asarray(r["slider.position.x"] - ideal["slider.position.x"])).max()
           for k, r in (("sphere", spheres["0"]), ("cylinder", cylinders["0"]))}  # fmt: skip
    study.say(
        f"Null clearance behaves like the perfect joint ({unit}^1.5).",
        ", ".join(f"slider up to {v:.2g} mm off ({k})" for k, v in off.items()), verdict(max(off.values()) < 2),
    )  # fmt: skip
    for name, runs in (("spherical", spheres), ("revolute", cylinders)):
        lost = [float(r["energy.dissipated"][-1]) for k, r in runs.items() if k != "ideal"]
        turns = [_turned(r).max() / (2 * np.pi) for k, r in runs.items() if k != "ideal"]
        study.say(
            f"The slider falls behind as the {name} clearance grows ({unit}^1.5).",
            "lost " + ", ".join(f"{x:.2g}" for x in lost) + " J, turns " + ", ".join(f"{x:.2f}" for x in turns),
            verdict(bool(np.all(np.diff(lost) > 0))),
        )


def _damping(study, ideal, end, outputs):
    """Figure 13."""
    free = mb.Dry(mb.Impact(mb.Hertz(UNITS["N/m"] / 4), mb.LankaraniNikravesh(0.75)))
    cases = {"e .75": {}, "e 1": {"restitution": 1.0}, "e .75, not clipped": {"interface": free}}
    runs = {"ideal": ideal}
    for label, options in list(cases.items())[-1 if study.quick else 0 :]:
        mechanism = mb.library.slider_crank_3d_revolute_clearance(clearance=0.0, **options)
        runs[label] = study.simulate(f"cylinder 0, {label}", mechanism, end, outputs, CHANNELS)
    study.channel("figure_13_damping", runs, "A.reaction.z", "reaction at A along z [N]")
    rough = {k: float(np.abs(np.diff(r["A.reaction.z"])).sum()) for k, r in runs.items()}
    study.say(
        "Damping ends the oscillations at null clearance.",
        ", ".join(f"{k}: total variation {v:.3g} N" for k, v in rough.items())
        + "; as printed a contact that begins at rest is not damped",
        verdict(rough.get("e .75", np.inf) < 2 * rough["ideal"]),
    )


def _turned(run):
    """Crank angle (rad); the crank's axis may tilt in a clearance."""
    rate, ts = np.asarray(run["crank.angular_velocity.x"]), np.asarray(run.ts)
    return np.concatenate([[0.0], np.cumsum(np.diff(ts) * (rate[1:] + rate[:-1]) / 2)])
