"""The recordings, cut into windows of one second that start every half second (the data's README, "Baseline")."""

import pathlib

import numpy as np
from scipy.signal import savgol_filter

import identification as ident

DATA = pathlib.Path(__file__).parents[3] / "shared" / "data" / "dfki_double_pendulum"  # beside the project, not in it
RUNS = (0, 1, 2, 3)
STEP = 0.002  # s
END, LENGTH, EVERY = 9.95, 1.0, 0.5  # s
NOISE = 0.02  # rad; what a good model still misses after a second, not the encoders' noise
GEAR = 6.0


def missing():
    """Why the study cannot run here, or an empty text."""
    return "" if (DATA / "run_0.csv").exists() else f"no recordings in {DATA}"


def windows(run, thinned=1):
    """The experiments of one run; `thinned` = 5 keeps samples every 10 ms, each the mean of its torques."""
    table = np.genfromtxt(DATA / f"run_{run}.csv", delimiter=",", names=True)
    t = np.arange(round(END / STEP) + 1) * STEP
    column = {n: np.interp(t, table["t_s"], table[n]) for n in table.dtype.names}
    start = {n: _smooth(column[n], 0) for n in ("angle1_rad", "angle2_rad")}
    rate = {n: _smooth(column[n], 1) for n in start}
    odd = thinned + 1 - thinned % 2
    mean = np.ones(odd) / odd
    for n in ("torque1_Nm", "torque2_Nm"):
        column[n] = np.convolve(np.pad(column[n], odd // 2, mode="edge"), mean, mode="valid")
    samples, every = round(LENGTH / STEP), round(EVERY / STEP)
    found = []
    for k, first in enumerate(range(0, t.size - samples, every)):
        rows = slice(first, first + samples + 1, thinned)
        found.append(ident.Experiment(
            f"run {run} window {k}",
            ident.Recording(t[rows], {n: column[n][rows] for n in (*start, "torque1_Nm", "torque2_Nm")}),
            [ident.Compared(f"{j}.spin", n, NOISE) for j, n in zip(("shoulder", "elbow"), start, strict=True)],
            positions={f"{j}.spin": start[n][first] for j, n in zip(("shoulder", "elbow"), start, strict=True)},
            speeds={f"{j}.spin": rate[n][first] for j, n in zip(("shoulder", "elbow"), start, strict=True)},
            inputs=[ident.Input(f"motor{k}.torque", f"torque{k}_Nm", 1 / GEAR) for k in (1, 2)],
        ))  # fmt: skip
    return found


def _smooth(values, derivative):
    return savgol_filter(values, 21, 3, deriv=derivative, delta=STEP)
