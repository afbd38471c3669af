"""P2's joint from measured motion: stiffness, restitution, friction, clearance by Levenberg-Marquardt and by Optax.

The data are those of the study `coverage`, seed 0: a turn that SciPy made, position with 2 um and acceleration with
500 m/s^2 of noise behind 10 kHz, everything a factor of two off at the start. All fitters go through the same growing
horizons with the same forward sensitivities; L-BFGS has its steps searched, Adam takes a fixed number of them.
"""

import time

import numpy as np

import identification as ident

from . import coverage
from .study import verdict

_ADAM_STEPS, _RATE = 60, 0.1  # per horizon; of a parameter's logarithm


def _fitters(quick):
    import optax

    steps = 2 if quick else _ADAM_STEPS
    adam = optax.adam(optax.cosine_decay_schedule(_RATE, steps, alpha=0.02))
    return {
        "Levenberg-Marquardt": {},
        "L-BFGS (Optax)": {"method": optax.lbfgs(1.0, linesearch=None), "most": 3 if quick else 100},
        "Adam (Optax)": {"method": adam, "most": steps},
    }


def run(study):
    ts, position, acceleration, contacts = coverage.truth()
    horizons = coverage.HORIZONS[:2] if study.quick else coverage.HORIZONS
    inside = ts <= horizons[-1] * (1 + 1e-9)
    data = ts[inside], position[inside], acceleration[inside]
    problem = coverage.problem(*data).with_recordings({"turn": coverage.noisy(*data, seed=0)})
    problem.linearised(problem.space.start, horizons[0])  # compiled apart from what is timed
    problem.residuals(problem.space.start, horizons[0])
    truth = np.array([coverage.TRUTH[n] for n in problem.names])
    rows, curves, found = [], {}, {}
    for name, how in _fitters(study.quick).items():
        begin = time.process_time()
        result = ident.fit(problem, horizons=horizons, **how)
        seconds = time.process_time() - begin
        found[name] = result
        off = result.x / truth - 1
        rows.append([name, len(result.history), seconds, result.redchi, *map(float, off)])
        values = np.array([row["x"] for row in result.history])
        for k, n in enumerate(problem.names):
            curves[f"{name}: {n}"] = np.arange(len(values)), np.abs(values[:, k] / truth[k] - 1)
        print(f"  {name}: {len(result.history)} steps, {seconds:.0f} s, {dict(zip(problem.names, off, strict=True))}")
    header = ["fitter", "steps", "CPU seconds", "reduced chi-square", *(f"{n} off by" for n in problem.names)]
    study.table("fitters", header, rows)
    study.figure("errors", curves, "step", "relative error", scale="log")
    model = problem.runs[0].predict(found["Levenberg-Marquardt"].u)[1]
    run = problem.runs[0]
    microns = 1e6 * (run.measured[:, 0] - model[:, 0])
    study.figure("residuals", {"position, measured less fitted": (run.times, microns)}, "t [s]", "residual [um]")
    study.numbers |= {"contacts": contacts, "samples": int(run.measured.size)}
    for name, steps, seconds, _, *off in rows:
        largest = max(map(abs, off))
        text = f"largest error {largest:.1g}, {steps} steps, {seconds:.0f} s"
        study.say(f"{name} finds the joint.", text, verdict(largest < 0.01))
