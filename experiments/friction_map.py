"""Map of the four-bar: energy lost and impacts over clearance and friction."""

import numpy as np

import identification as ident
import mbjax as mb
from identification import measure
from identification.sweep import plot


def run(study):
    count, end = (4, 0.2) if study.quick else (16, 1.0)
    mechanism = mb.library.four_bar_clearance(friction=mb.Threlfall(0.1))
    clearance, friction = "joint.pair.clearance", "joint.interface.friction.coefficient"
    samples = ident.grid({clearance: np.linspace(5e-5, 4e-4, count), friction: np.linspace(0.02, 0.4, count)})
    kept = [measure.Final("energy.dissipated"), measure.ContactCount("joint", 2000)]
    found = ident.sweep(mechanism, samples, kept, [0.0, end], out=study.folder / "sweep", chunk=16)
    for k, label in enumerate(found.labels):
        plot.parameter_map(found, label, clearance, friction, study.folder / f"map_{k}.png")
    study.numbers["map"] = {"variants": len(found), "failed": int(found.failed.size)}
    lost = found.on_grid("final energy.dissipated")
    study.say(
        "More friction dissipates more.",
        f"{1e3 * lost[:, 0].mean():.3g} mJ at .02, {1e3 * lost[:, -1].mean():.3g} mJ at .4, mean over clearances",
        "reproduced" if lost[:, -1].mean() > lost[:, 0].mean() else "refuted",
    )
