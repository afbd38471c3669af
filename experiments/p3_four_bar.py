"""P3, figures 5-11: spatial four-bar with spherical clearance; friction laws, clearances, coefficients, cost; 2 s."""

import mbjax as mb

from .study import verdict

CHANNELS = ["rocker.position.z", "rocker.velocity.z", "rocker.acceleration.z", "joint.distance", "energy.total"]
LAWS = {
    "frictionless": None,
    "Ambrosio": mb.Ambrosio(0.1),
    "Threlfall": mb.Threlfall(0.1),
    "piecewise linear": mb.PiecewiseLinear(0.1, 0.15),
    "Bengisu-Akay": mb.BengisuAkay(0.1, 0.15),
}


def run(study):
    end, outputs = (0.4, 201) if study.quick else (2.0, 2001)
    build = mb.library.four_bar_clearance
    runs = {"ideal": study.simulate("ideal", mb.library.four_bar(), end, outputs, CHANNELS)}
    laws = {k: LAWS[k] for k in ("frictionless", "Threlfall")} if study.quick else LAWS
    for label, law in laws.items():
        runs[label] = study.simulate(label, build(friction=law), end, outputs, CHANNELS)
    study.channel("figure_5_position", runs, "rocker.position.z", "rocker z [m]")
    study.channel("figure_5_velocity", runs, "rocker.velocity.z", "rocker velocity z [m/s]")
    study.channel("figure_5_acceleration", runs, "rocker.acceleration.z", "rocker acceleration z [m/s^2]")
    study.channel("figure_5_energy", runs, "energy.total", "mechanical energy [J]")
    study.channel(
        "figure_6_eccentricity", {k: r for k, r in runs.items() if k != "ideal"}, "joint.distance", "eccentricity [m]"
    )
    phase = {k: (r["rocker.position.z"], r["rocker.velocity.z"]) for k, r in runs.items()}
    study.figure("figure_7_phase", phase, "rocker z [m]", "rocker velocity z [m/s]")
    if not study.quick:
        sizes = {f"{1e3 * c:g} mm": build(friction=LAWS["Threlfall"], clearance=c) for c in (5e-5, 1e-4, 4e-4)}
        coefficients = {f"mu {mu:g}": build(friction=mb.Threlfall(mu)) for mu in (0.05, 0.2, 0.4)}
        for name, group in (("figure_9_clearance", sizes), ("figure_10_friction", coefficients)):
            more = {k: study.simulate(k, m, end, outputs, CHANNELS) for k, m in group.items()}
            more = {"0.2 mm, mu 0.1": runs["Threlfall"], **more}
            study.channel(name, more, "rocker.acceleration.z", "acceleration [m/s^2]")
            study.channel(f"{name}_eccentricity", more, "joint.distance", "eccentricity [m]")
            study.channel(f"{name}_energy", more, "energy.total", "mechanical energy [J]")
    cost = {k: study.numbers[k]["evaluations"] for k in study.numbers}
    study.table("figure_11_cost", ["case", "right-hand sides"], [[k, v] for k, v in cost.items()])
    study.say(
        "Clearance costs evaluations, friction makes it cheaper (figure 11).",
        ", ".join(f"{k} {v}" for k, v in cost.items()),
        verdict(cost["ideal"] < cost["Threlfall"] < cost["frictionless"]),
    )
    lost = [study.numbers[k]["dissipated [J]"] for k in ("frictionless", "Threlfall")]
    study.say(
        "Friction dissipates more than impacts.", f"{1e3 * lost[1]:.3g} mJ against {1e3 * lost[0]:.3g} mJ",
        verdict(lost[1] > lost[0]),
    )  # fmt: skip
