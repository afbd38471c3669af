"""What every study writes: trajectories, figures with their numbers, a summary and a short text."""

import csv
import json
import pathlib

import numpy as np

import mbjax as mb
from mbjax.files import Atomic


class Study:
    """The folder of one study."""

    def __init__(self, folder, quick, text):
        self.folder, self.quick, self.text = pathlib.Path(folder), quick, text
        self.numbers, self.findings, self.tables = {}, [], []

    def simulate(self, label, mechanism, end, outputs, channels, *, rtol=1e-8, events=0):
        """The motion of a mechanism from its own start; `channels` go to LABEL.csv, and how it went to the summary."""
        system = mb.assemble(mechanism)
        ts = np.linspace(0.0, end, outputs)
        run = mb.simulate(system, mb.initial_state(system), ts, steps=mb.Adaptive(rtol=rtol), events=events)
        run.to_csv(self.folder / f"{_plain(label)}.csv", channels)
        balance = float(np.ptp(run["energy.balance"]))
        self.numbers[label] = {
            "steps": int(run.statistics.steps), "evaluations": int(run.statistics.evaluations),
            "energy balance [J]": balance, "dissipated [J]": float(run["energy.dissipated"][-1]),
        }  # fmt: skip
        return run

    def figure(self, name, curves, x, y, *, style="-", legend=True, scale="linear"):
        """A picture of `{label: (x values, y values)}`, and the same numbers as CSV."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        for label, (xs, ys) in curves.items():
            axes.plot(xs, ys, style, label=label, linewidth=0.9, markersize=2)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_yscale(scale)
        if legend and len(curves) > 1:
            axes.legend(fontsize=8)
        self.folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.folder / f"{name}.png", dpi=110)
        with Atomic(self.folder / f"{name}.numbers.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["curve", x, y])
            for label, (xs, ys) in curves.items():
                writer.writerows([label, repr(float(a)), repr(float(b))] for a, b in zip(xs, ys, strict=True))

    def table(self, name, header, rows):
        """Rows of words and numbers, as CSV and in the text."""
        with Atomic(self.folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        cells = [[c if isinstance(c, str) else f"{c:.3g}" for c in row] for row in rows]
        lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *cells]]
        self.tables.append("\n".join(lines))

    def channel(self, name, runs, channel, y):
        """One channel of several motions over time."""
        self.figure(name, {k: (np.asarray(r.ts), np.asarray(r[channel])) for k, r in runs.items()}, "t [s]", y)

    def say(self, statement, found, verdict):
        """What the paper says, what was found, and whether that is `reproduced` or `refuted`."""
        self.findings.append({"statement": statement, "found": found, "verdict": verdict})

    def finish(self, seconds):
        """Write the summary and the text."""
        lines = [self.text.strip(), "", "Quick run: shortened." if self.quick else "Full run.", ""]
        lines += [f"- {f['statement']} **{f['verdict']}**: {f['found']}" for f in self.findings]
        lines += [part for table in self.tables for part in ("", table)]
        with Atomic(self.folder / "README.md", "w") as file:
            file.write("\n".join(lines) + "\n")
        table = {"quick": self.quick, "seconds": seconds, "numbers": self.numbers, "findings": self.findings}
        with Atomic(self.folder / "summary.json", "w") as file:
            json.dump(table, file, indent=1)


def _plain(label):
    return "".join(c if c.isalnum() else "_" for c in label).strip("_")


def verdict(holds):
    return "reproduced" if holds else "refuted"
