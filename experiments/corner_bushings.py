"""What the bushings of a double-wishbone corner do to its compliance: a map over two of them, a ranking over all six.

A force of 2 kN along x (braking) at the wheel centre, a quarter of a 2 Hz swing; read at its peak: how far the wheel
centre gives way, and the toe angle. Users choose bushings with such maps: soft along x for comfort, little toe change.
"""

import jax.numpy as jnp
import numpy as np

import identification as ident
import mbjax as mb
from identification import measure
from identification.sweep import plot
from mbjax.library.suspension_corner import BUSHINGS

FORCE, FREQUENCY, NOMINAL = 2000.0, 2.0, 4e6  # N, Hz, N/m
AXES = ("lower_front.stiffness.0.0", "toe_inner.stiffness.0.0")


def corner():
    shaker = mb.signal.Harmonic(FORCE, FREQUENCY)
    load = mb.AppliedForce("load", "upright", shaker, direction=(1, 0, 0), kind="force")
    places = {"wheel": (0.0, 0.0, 0.0), "rim": (0.2, 0.0, 0.0)}
    mechanism = mb.library.suspension_corner(load=load)
    return mechanism.add(*(mb.Marker(name, "upright", point) for name, point in places.items()))


def compliance(run):
    """Displacement of the wheel centre along x (m) and toe angle (rad) at the end."""
    wheel, rim = (run[[f"{m}.position.{a}" for a in "xy"]] for m in ("wheel", "rim"))
    arm = rim[-1] - wheel[-1]
    return jnp.array([wheel[-1, 0] - wheel[0, 0], jnp.arctan2(arm[1], arm[0])])


def run(study):
    count = 3 if study.quick else 15
    ts = np.linspace(0.0, 0.25 / FREQUENCY, 3)
    kept = measure.Custom(("give", "toe"), compliance)
    values = NOMINAL * np.geomspace(0.1, 10.0, count)
    found = ident.sweep(corner(), ident.grid({path: values for path in AXES}), kept, ts, out=study.folder / "map")
    study.numbers["map"] = {"variants": len(found), "failed": int(found.failed.size)}
    for label in ("give", "toe"):
        plot.parameter_map(found, label, *AXES, study.folder / f"{label}.png")
    give, toe = 1e3 * found.on_grid("give"), np.degrees(found.on_grid("toe"))
    middle = count // 2
    study.say(
        "A softer front bushing of the lower arm gives the wheel way along x.",
        f"{give[0, middle]:.3g} mm at a tenth of its stiffness, {give[-1, middle]:.3g} mm at ten times; toe from "
        f"{toe[0, middle]:.3g} to {toe[-1, middle]:.3g} degrees",
        "found",
    )
    study.say(
        "What the toe link's inner bushing does to the toe angle.",
        f"{toe[middle, 0]:.3g} degrees at a tenth of its stiffness, {toe[middle, -1]:.3g} at ten times",
        "found",
    )
    paths = [f"{b}.stiffness.{k}.{k}" for b in (BUSHINGS[:1] if study.quick else BUSHINGS) for k in (0, 2)]
    local = ident.sensitivity(corner(), ["wheel.position.x"], paths, ts, measures=[kept], trust=False)
    study.table("ranking", ["stiffness", "of", "spread per relative change"], [list(row) for row in local.ranking()])
