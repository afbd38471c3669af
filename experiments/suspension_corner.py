"""Six bushings of a double wishbone from forces and displacements at the wheel centre.

The corner is shaken in the rig along x, y, z and about z, slowly (2 Hz) and at 15 Hz; the displacements of the wheel
centre and of a point of the rim are read with 5 um of noise. Unknown are the radial and the axial stiffness of every
bushing: a component test gave each of them to 20 %. What the wheel tells about them, and what it cannot: two bushings
of one arm that lie one behind the other share a load.
"""

import diffrax
import numpy as np

import identification as ident
import mbjax as mb
from mbjax.library.suspension_corner import BUSHINGS

NOISE, COMPONENT = 5e-6, 0.2  # m; deviation of the logarithm of a stiffness in the component test
RIGS = {  # amplitude, frequency, direction, kind
    "x": (2000.0, 2.0, (1, 0, 0), "force"), "y": (2000.0, 2.0, (0, 1, 0), "force"),
    "z": (800.0, 2.0, (0, 0, 1), "force"), "toe": (150.0, 2.0, (0, 0, 1), "torque"),
    "x fast": (500.0, 15.0, (1, 0, 0), "force"),
}  # fmt: skip
CHANNELS = [f"{m}.position.{a}" for m in ("wheel", "rim") for a in "xyz"]
PATHS = {
    f"{name}.{what}": tuple(f"{name}.stiffness.{k}.{k}" for k in rows)
    for name in BUSHINGS
    for what, rows in (("radial", (0, 1)), ("axial", (2,)))
}


def corner(rig, values=None):
    amplitude, frequency, direction, kind = RIGS[rig]
    shaker = mb.signal.Harmonic(amplitude, frequency)
    load = mb.AppliedForce("load", "upright", shaker, direction=direction, kind=kind)
    mechanism = mb.library.suspension_corner(load=load)
    places = {"wheel": (0.0, 0.0, 0.0), "rim": (0.2, 0.0, 0.0)}
    mechanism = mechanism.add(*(mb.Marker(name, "upright", point) for name, point in places.items()))
    if values:
        mechanism = mechanism.with_values({path: values[name] for name, paths in PATHS.items() for path in paths})
    return mechanism


def true_values(seed=5):
    """Stiffnesses within 30 % of those in the drawing."""
    random = np.random.default_rng(seed)
    nominal = {"radial": 4e6, "axial": 8e5}
    return {name: nominal[name.split(".")[1]] * np.exp(random.uniform(-0.3, 0.3)) for name in PATHS}


def recordings(values, rigs, seed=1):
    """What the rig reads, by another solver than the fit's."""
    random = np.random.default_rng(seed)
    found = {}
    for rig in rigs:
        _, frequency, *_ = RIGS[rig]
        ts = np.linspace(0.0, 1.0 / frequency, 101)
        system = mb.assemble(corner(rig, values))
        run = mb.simulate(system, mb.initial_state(system), ts, solver=diffrax.Tsit5(), steps=mb.Adaptive(rtol=1e-9))
        clean = np.asarray(run[CHANNELS])
        columns = {c: clean[:, k] + NOISE * random.normal(size=ts.size) for k, c in enumerate(CHANNELS)}
        found[rig] = ident.Recording(ts, columns)
    return found


def problem(recorded, component):
    """`component` are the stiffnesses that the component tests gave: starts and priors."""
    runs = [
        ident.Experiment(rig, recording, [ident.Compared(c, c, sigma=NOISE) for c in CHANNELS], mechanism=corner(rig))
        for rig, recording in recorded.items()
    ]
    parameters = [
        ident.Parameter(n, paths, start=component[n], scale="log", unit="N/m", prior=(component[n], COMPONENT))
        for n, paths in PATHS.items()
    ]
    return ident.Problem(corner(next(iter(recorded))), parameters, runs, steps=mb.Adaptive(rtol=1e-7))


def component_tests(values, seed=2):
    random = np.random.default_rng(seed)
    return {n: v * np.exp(COMPONENT * random.normal()) for n, v in values.items()}


def run(study):
    values = true_values()
    rigs = ("x",) if study.quick else RIGS
    component = component_tests(values)
    found = ident.fit(problem(recordings(values, rigs), component), most=4 if study.quick else 100)
    off = {n: float(x / values[n] - 1) for n, x in zip(found.names, found.x, strict=True)}
    before = {n: component[n] / values[n] - 1 for n in values}
    deviation = {n: float(s / x) for n, s, x in zip(found.names, found.stderr, found.x, strict=True)}
    study.table(
        "stiffness",
        ["stiffness", "component test off by", "corner off by", "deviation", "verdict"],
        [
            [n, before[n], off[n], deviation[n], verdict.word]
            for n, verdict in zip(found.names, found.verdicts, strict=True)
        ],
    )
    study.numbers |= {"reduced chi-square": found.redchi, "off": off}
    worst = max(abs(o) / d for o, d in zip(off.values(), deviation.values(), strict=True))
    study.say(
        "The corner pins stiffnesses that the component tests gave to 20 %.",
        f"median error {np.median(np.abs(list(off.values()))):.3g}, was "
        f"{np.median(np.abs(list(before.values()))):.3g}; largest error {worst:.2g} deviations",
        "found",
    )
