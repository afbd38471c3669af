"""A real double pendulum (DFKI, design C.0): fitted to three runs, predicts the fourth; friction laws ranked.

The recordings lie beside the project; without them there is nothing to run. docs/double_pendulum.md says what was
found.
"""


def run(study):
    from .comparison import compared
    from .windows import RUNS, missing

    if missing():
        study.say("The recordings", missing(), "missing")
        return
    found = compared(study.quick)
    if found["errors"]:
        header = ["RMS error [rad]", *(f"run {r}" for r in RUNS), "over published"]
        study.table("errors", header, [[case, *rows, found["ratio"][case]] for case, rows in found["errors"].items()])
    laws = [[law, x["parameters"], x["aic"], x["bic"], *map(_mean, (x["strict"], x["calibrated"]))]
            for law, x in found["laws"].items()]  # fmt: skip
    study.table("laws", ["law", "parameters", "AIC", "BIC", "mean error", "mean error, zeros calibrated"], laws)
    study.numbers |= found
    for case, asked in (("left out", 0.8), ("left out, zeros drift", 0.8), ("left out, zeros calibrated", 0.8)):
        if study.quick:
            study.say(case, "the whole study compares it with the published parameters", "not run")
            continue
        ratio = found["ratio"][case]
        study.say(f"{case}: at most {asked} of the published parameters' error", f"{ratio:.2f}", _met(ratio <= asked))


def _mean(values):
    return sum(values) / len(values)


def _met(holds):
    return "met" if holds else "missed"
