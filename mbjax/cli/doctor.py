"""`mbjax doctor`: what this installation is, and whether it can simulate."""

import time

from .environment import prepare, versions


def add_arguments(parser):
    del parser


def run(options, console):
    """Print versions, devices, cache and the time of a small simulation."""
    del options
    folder = prepare()
    import jax
    import jax.numpy as jnp
    import numpy as np

    import mbjax as mb

    about = {
        "ok": True,
        "versions": versions(),
        "devices": [f"{d.platform}: {d.device_kind}" for d in jax.devices()],
        "x64": jnp.zeros(1).dtype == np.float64,
        "cache": {"folder": str(folder) if folder else None, "bytes": _size(folder)},
    }
    system = mb.assemble(mb.library.pendulum())
    state = mb.initial_state(system)
    ts = np.linspace(0.0, 1.0, 11)
    seconds = [_timed(lambda: mb.simulate(system, state, ts).ts.block_until_ready()) for _ in range(2)]
    trajectory = mb.simulate(system, state, ts)
    balance = trajectory["energy.balance"]
    about["simulation"] = {
        "what": "1 s of a pendulum",
        "first_seconds": seconds[0],
        "again_seconds": seconds[1],
        "energy_drift_joule": float(np.ptp(np.asarray(balance))),
        "message": trajectory.result.message,
    }
    about["ok"] = about["x64"] and bool(trajectory.result.success)
    for line in _lines(about):
        console.say(line)
    console.report(about)
    return 0 if about["ok"] else 3


def _lines(about):
    for package, version in about["versions"].items():
        yield f"{package:<12} {version}"
    yield f"{'devices':<12} {', '.join(about['devices'])}"
    yield f"{'64 bits':<12} {'yes' if about['x64'] else 'NO'}"
    cache = about["cache"]
    yield f"{'cache':<12} {cache['folder']} ({cache['bytes'] / 1e6:.1f} MB; may be deleted)"
    run = about["simulation"]
    yield (
        f"{'simulation':<12} {run['what']}: {run['message']}, first run {run['first_seconds']:.2f} s (compilation), "
        f"again {1e3 * run['again_seconds']:.2f} ms, energy drift {run['energy_drift_joule']:.1e} J"
    )


def _timed(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def _size(folder):
    return sum(f.stat().st_size for f in folder.iterdir() if f.is_file()) if folder else 0
