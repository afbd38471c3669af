"""Writing what a simulation gave."""

import json
import time

import numpy as np

from ..errors import ModelError
from ..files import Atomic
from .console import plain

_OK, _SOLVER_FAILURE, _INTERRUPTED = 0, 3, 130


def write(done, about, folder, outputs, plot, begin, console):
    """Write the files; returns the exit code."""
    trajectory = done.trajectory
    code = _INTERRUPTED if done.interrupted else _OK if bool(trajectory.result.success) else _SOLVER_FAILURE
    trajectory.to_csv(folder / "trajectory.csv", outputs or None)
    files = ["trajectory.csv"]
    try:
        trajectory.system.mechanism.to_toml()
    except ModelError as error:
        console.say(f"trajectory.npz is not written: {error}")
    else:
        trajectory.save(folder / "trajectory.npz")
        files += ["trajectory.npz", "trajectory.json"]
    if plot:
        try:
            files += _plot(trajectory, outputs, folder)
        except ImportError as error:
            console.say(f"plot.png is not written: {error}.")
    balance = np.asarray(trajectory["energy.balance"])
    message = "interrupted" if done.interrupted else trajectory.result.message
    statistics = trajectory.statistics
    about = {
        "ok": code == _OK,
        "exit_code": code,
        "message": message,
        "reached": float(trajectory.ts[-1]),
        **about,
        "outputs": len(trajectory.ts),
        "steps": {"accepted": int(statistics.accepted), "rejected": int(statistics.rejected)},
        "evaluations": int(statistics.evaluations),
        "energy_drift_joule": float(np.ptp(balance)),
        "largest_violation": float(np.max(np.asarray(trajectory["constraints.violation"]))),
        "seconds": {
            "total": time.perf_counter() - begin,
            "integration": done.seconds,
            "first_chunk_with_compilation": done.first_seconds,
        },
        "folder": str(folder),
        "files": [*files, "summary.json"],
    }
    with Atomic(folder / "summary.json", "w") as file:
        json.dump(plain(about), file, indent=1)
    console.say(
        f"{message}: {about['outputs']} outputs up to t = {about['reached']:.6g} s, "
        f"{about['steps']['accepted']} steps ({about['steps']['rejected']} rejected), {done.seconds:.2f} s; "
        f"energy drift {about['energy_drift_joule']:.1e} J, largest violation {about['largest_violation']:.1e}"
    )
    console.say(f"written to {folder}: {', '.join(about['files'])}")
    console.report(about)
    return code


def _plot(trajectory, outputs, folder):
    import matplotlib

    matplotlib.use("Agg")
    axes = trajectory.plot(list(outputs) or trajectory._columns(None)[0])
    figure = np.ravel(np.asarray(axes, dtype=object))[0].get_figure()
    with Atomic(folder / "plot.png", "wb") as file:
        figure.savefig(file, dpi=120, format="png")
    return ["plot.png"]
