"""`mbjax simulate model.toml --out DIR`: integrate a model file and write trajectory.csv, .npz, .json, summary.json."""

import dataclasses
import pathlib
import time

from ..errors import ModelError
from ..io.settings import SOLVERS
from .environment import prepare, versions


def add_arguments(parser):
    parser.add_argument("model", help="model file (TOML)")
    parser.add_argument("--out", required=True, help="folder for the results; it is made if needed")
    parser.add_argument("--end", type=_quantity("s"), help='end time, e.g. 2 or "500 ms"')
    parser.add_argument("--samples", type=int, help="number of output times, first and last included")
    parser.add_argument("--rtol", type=float, help="relative tolerance of the integration")
    parser.add_argument("--solver", choices=SOLVERS, help="integration method")
    parser.add_argument("--plot", action="store_true", help="also write plot.png of the output channels")


def _quantity(dimension):
    import argparse

    from ..units import parse_quantity

    def read(text):
        try:
            return float(text)
        except ValueError:
            pass
        try:
            return parse_quantity(text, dimension)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def run(options, console):
    """Read, assemble, integrate chunk by chunk, write."""
    from ..io.read import load_document

    prepare()
    begin = time.perf_counter()
    document = load_document(options.model)
    settings = _merged(document.settings, options)
    import mbjax as mb

    from ..initial import connection_residuals
    from . import results
    from .chunks import integrate

    system = mb.assemble(document.mechanism)
    console.say(system.summary())
    _check_outputs(system, settings)
    ts = output_times(settings)
    state = mb.initial_state(system, t0=settings.start)
    residuals = connection_residuals(system, state, settings.start)
    console.say("initial residuals (m or rad): " + (", ".join(f"{n} {r:.1e}" for n, r in residuals.items()) or "none"))
    done = integrate(system, state, ts, solver=_solver(settings), steps=_steps(settings), console=console)
    about = {
        "model": str(options.model),
        "mechanism": system.mechanism.name,
        "summary": system.summary().splitlines(),
        "settings": dataclasses.asdict(settings),
        "versions": versions(),
        "initial_residuals": residuals,
        "warnings": console.warnings,
    }
    return results.write(done, about, pathlib.Path(options.out), settings.outputs, options.plot, begin, console)


def _merged(settings, options):
    """The settings of the file, overruled by those of the command line."""
    changes = {n: getattr(options, n) for n in ("end", "samples", "rtol", "solver") if getattr(options, n) is not None}
    if "samples" in changes:
        changes["output_step"] = None
    settings = dataclasses.replace(settings, **changes)
    if settings.end is None:
        raise ModelError(f"{options.model}: simulation.end: missing; write it into [simulation] or give `--end 1.0`.")
    return settings


def output_times(settings):
    """Times at which the motion is written; the last one is the end."""
    import numpy as np

    length = settings.end - settings.start
    if settings.output_step is None:
        return np.linspace(settings.start, settings.end, settings.samples or 201)
    count = int(np.floor(length / settings.output_step * (1 + 1e-12)))
    times = settings.start + settings.output_step * np.arange(count + 1)
    if settings.end - times[-1] > 1e-9 * length:
        return np.append(times, settings.end)
    return np.append(times[:-1], settings.end)


def _check_outputs(system, settings):
    from ..observe import find_channel

    faults = []
    for k, name in enumerate(settings.outputs):
        try:
            find_channel(system.structure, name)
        except KeyError as error:
            faults.append(f"simulation.outputs[{k}]: {error.args[0]}")
    if faults:
        raise ModelError(faults)


def _solver(settings):
    import diffrax

    from ..stepping.rosenbrock import Rodas4

    known = {"Rodas4": Rodas4, **vars(diffrax)}
    return known[settings.solver]()


def _steps(settings):
    from ..stepping.steps import Adaptive

    return Adaptive(rtol=settings.rtol, max_step=settings.max_step)
