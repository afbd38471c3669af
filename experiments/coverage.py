"""Coverage of the intervals: four numbers of P2's joint from noisy data that another code made.

Stiffness, restitution, friction and clearance; 200 seeds.

The data are not made by mbjax: a turn of the event-located SciPy reference (`planar_reference`), sampled at 100 kHz,
slider position with 2 um of noise and an accelerometer on the slider with a 10 kHz low-pass and 500 m/s^2 of noise
(a quarter of a percent of its range of 2e5). Every fit begins a factor of two off. Over the seeds: how often the 95 %
intervals hold the truth, and mean and deviation of the errors over the deviations the fit gives. The same start fails
when the whole turn is compared at once. A run that was broken off goes on where it was.
"""

import json

import numpy as np
from scipy import signal

import identification as ident
import mbjax as mb
from mbjax.files import Atomic

from .planar_reference import CLEARANCE, REVOLUTION, STIFFNESS, Numbers, event_located

TRUTH = {"K": STIFFNESS, "e": 0.9, "mu": 0.03, "c": CLEARANCE}
START = {"K": 2.0 * STIFFNESS, "e": 0.45, "mu": 0.06, "c": 2.0 * CLEARANCE}
SIGMA_POSITION, SIGMA_ACCELERATION, LOW_PASS = 2e-6, 500.0, 1e4  # m, m/s^2, Hz
HORIZONS = (0.35e-3, 0.7e-3, 1.4e-3, 2.8e-3, 5.6e-3, REVOLUTION)
FINER = 16  # samples of the reference between two of the rig's


def truth():
    """Times of the rig's samples, position and filtered acceleration there, and the number of contacts."""
    fine = np.linspace(0.0, REVOLUTION, 1200 * FINER + 1)
    run = event_located(fine, Numbers(friction=TRUTH["mu"]))
    # What the filter does to the acceleration: the rate of what it does to the velocity, which has no spikes.
    b, a = signal.butter(2, 2 * np.pi * LOW_PASS, analog=True)
    space = signal.StateSpace(*signal.tf2ss([*b, 0.0], a))
    speed = run.states[:, 3]
    filtered = signal.lsim(space, speed - speed[0], fine)[1]
    return fine[::FINER], run.states[::FINER, 1], filtered[::FINER], len(run.touches)


def problem(ts, position, acceleration, start=START):
    """The fit of the four numbers to such a recording."""
    recording = ident.Recording(ts, {"x": position, "a": acceleration})
    compared = [
        ident.Compared("slider.position.x", "x", sigma=SIGMA_POSITION),
        ident.Compared("meter", "a", sigma=SIGMA_ACCELERATION),
    ]
    parameters = [
        ident.Parameter("K", "B.interface.normal.elastic.stiffness", start=start["K"], scale="log"),
        ident.Parameter("e", "B.interface.normal.hysteresis.restitution", start=start["e"], lower=0.1, upper=1.0),
        ident.Parameter("mu", "B.interface.friction.coefficient", start=start["mu"], scale="log"),
        ident.Parameter("c", "B.pair.clearance", start=start["c"], scale="log"),
    ]
    mechanism = mb.library.planar_slider_crank_clearance(friction=mb.Ambrosio(0.03, 1e-4, 1e-3))
    mechanism = mechanism.add(mb.Marker("tip", "slider", (0.0, 0.0, 0.0)))
    meter = ident.Accelerometer("tip", "x", ident.Butterworth(LOW_PASS))
    turn = ident.Experiment("turn", recording, compared)
    return ident.Problem(mechanism, parameters, [turn], sensors={"meter": meter})


def noisy(ts, position, acceleration, seed):
    random = np.random.default_rng(seed)
    return ident.Recording(
        ts,
        {
            "x": position + SIGMA_POSITION * random.normal(size=ts.size),
            "a": acceleration + SIGMA_ACCELERATION * random.normal(size=ts.size),
        },
    )


def scores(found):
    """Errors over deviations, (parameters,), in the space of the fit; and whether the interval holds the truth."""
    true = np.array([TRUTH[n] for n in found.names])
    log = np.array([n != "e" for n in found.names])
    off = np.where(log, np.log(np.where(log, found.x / true, 1.0)), found.x - true)
    deviation = np.where(log, found.stderr / found.x, found.stderr)
    held = (found.interval[:, 0] <= true) & (true <= found.interval[:, 1])
    return off / deviation, held, found.x / true - 1


def run(study):
    ts, position, acceleration, contacts = truth()
    base = problem(ts, position, acceleration)
    seeds = 1 if study.quick else 200
    path = study.folder / "seeds.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    rows = rows[:seeds]
    for seed in range(len(rows), seeds):
        found = ident.fit(
            base.with_recordings({"turn": noisy(ts, position, acceleration, seed)}),
            horizons=HORIZONS[: 4 if study.quick else None],
        )
        z, held, off = scores(found)
        rows.append(
            {"z": z.tolist(), "held": held.tolist(), "off": off.tolist(), "redchi": found.redchi, "nfev": found.nfev}
        )
        with Atomic(path, "w") as file:
            json.dump(rows, file)
        words = ", ".join(f"{n} {o:.1e}" for n, o in zip(found.names, off, strict=True))
        print(f"  seed {seed + 1}/{seeds}: off by {words}", flush=True)
    z, held, off = (np.array([r[k] for r in rows]) for k in ("z", "held", "off"))
    study.table(
        "coverage",
        ["parameter", "median error", "coverage of 95 %", "mean of z", "deviation of z"],
        [
            [
                n,
                float(np.median(np.abs(off[:, k]))),
                float(held[:, k].mean()),
                float(z[:, k].mean()),
                float(z[:, k].std()),
            ]
            for k, n in enumerate(base.names)
        ],
    )
    first = base.with_recordings({"turn": noisy(ts, position, acceleration, 0)})
    at_once = ident.fit(first, horizons=(REVOLUTION,), most=8 if study.quick else 30)
    study.numbers |= {"contacts": contacts, "seeds": seeds, "at once, reduced chi-square": at_once.redchi}
    study.say("Single shooting from the same start", f"reduced chi-square {at_once.redchi:.3g}", "fails")
