"""`mbjax sensitivity study.toml --out DIR`: which number moves which output, when."""

import json
import pathlib

from .environment import prepare


def add_arguments(parser):
    parser.add_argument("study", help="study file (TOML) with [times] and [sensitivity]")
    parser.add_argument("--out", help="folder for sensitivity.json, sensitivity.npz and pictures")


def run(options, console):
    """Compute, print the ranking, write."""
    prepare()
    import numpy as np

    from identification import sensitivity
    from identification.study import load_sensitivity
    from identification.sweep.plot import tornado

    from ..files import Atomic

    study = load_sensitivity(options.study)
    console.progress("compiling ...")
    found = sensitivity(
        study.mechanism, study.outputs, study.parameters, study.ts, measures=study.measures, **study.settings
    )
    console.say(str(found))
    if options.out:
        folder = pathlib.Path(options.out)
        with Atomic(folder / "sensitivity.npz", "wb") as file:
            np.savez(file, ts=found.ts, outputs=found.outputs, slopes=found.slopes, measure_slopes=found.measure_slopes)
        with Atomic(folder / "sensitivity.json", "w") as file:
            json.dump(found.to_dict(), file, indent=1)
        if found.channels:
            found.plot(folder / "sensitivity.png")
            tornado(found, folder / "tornado.png")
        console.say(f"written to {folder}")
    console.report({"ok": True, "exit_code": 0, **found.to_dict()})
    return 0
