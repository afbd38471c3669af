"""Pictures of the documentation: which study draws each of them, and their way into `docs/figures`."""

import json
import pathlib
import shutil

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "figures"
DRAWN = {
    "laws": {
        f"law_{n}": n
        for n in (
            "bristles", "bushing_loops", "bushing_stiffness", "elastic", "films", "friction", "hysteresis",
            "springs_and_layers",
        )
    },
    "p1_slider_crank": {
        f"p1_{n}": n
        for n in ("figure_11_crank_angle_N_per_m", "figure_11_crank_angle_N_per_mm", "figure_13_damping")
    },
    "p1_triple_pendulum": {f"p1_{n}": n for n in ("figure_15_swing", "figure_17_snapshots")},
    "p2_slider_crank": {f"p2_{n}": n for n in ("figure_13_slider_acceleration", "figure_15_journal_path")},
    "p3_four_bar": {
        f"p3_{n}": n for n in ("figure_10_friction_energy", "figure_5_acceleration", "figure_6_eccentricity")
    },
    "p4_p5_slider_crank": {"p5_energy": "P5_energy"},
    "film_viscosity": {"film_orbit": "orbit"},
}  # fmt: skip


def take(out):
    """Copy the pictures of the studies that have been run in full into the documentation; names of those missing."""
    missing = []
    for study, pictures in DRAWN.items():
        summary = out / study / "summary.json"
        full = summary.exists() and not json.loads(summary.read_text())["quick"]
        for name, drawn in pictures.items():
            source = out / study / f"{drawn}.png"
            if full and source.exists():
                shutil.copyfile(source, FOLDER / f"{name}.png")
            else:
                missing.append(str(source))
    return missing
