"""`mbjax fit study.toml --out DIR`: check, fit, write fit.json, fit.npz, the fitted model and report.html."""

import json
import pathlib

from .environment import prepare


def add_arguments(parser):
    parser.add_argument("study", help="study file (TOML)")
    parser.add_argument("--out", required=True, help="folder for the results; it is made if needed")
    parser.add_argument("--unchecked", action="store_true", help="fit without, or in spite of, the check")


def run(options, console):
    """Check the study, fit it (going on from a checkpoint if there is one), write the results."""
    prepare()
    from identification import check, fit, repeats, write_report
    from identification.result import finite
    from identification.study import load_study

    from ..files import Atomic

    console.progress("reading and compiling ...")
    study = load_study(options.study)
    folder = pathlib.Path(options.out)
    checkpoint = folder / "checkpoint.json"
    if not options.unchecked and not checkpoint.exists():
        found = check(study.problem)
        console.say(str(found))
        if not found.ok:
            console.say("Not fitted. `--unchecked` fits all the same.")
            code = 3 if not found.verdicts else 4
            console.report({"ok": False, "exit_code": code, "problems": list(found.problems)})
            return code
    result = fit(study.problem, **study.settings, checkpoint=checkpoint, note=console.progress)
    console.say(str(result))
    result.save(folder)
    with Atomic(folder / "model.toml", "w") as file:
        file.write(study.problem.fitted_mechanism(result.u).to_toml())
    write_report(study.problem, result, folder / "report.html")
    spread = repeats(study.problem, result) if study.repeats else None
    if spread is not None:
        console.say(str(spread))
        with Atomic(folder / "repeats.json", "w") as file:
            json.dump(finite(spread.to_dict()), file, indent=1)
        write_report(study.problem, result, folder / "report.html", spread=spread)
    code = 0 if result.success else 130 if result.message.startswith("interrupted") else 3
    if code == 0:
        checkpoint.unlink(missing_ok=True)
    files = ["fit.json", "fit.npz", "model.toml", "report.html", *(["repeats.json"] if spread is not None else [])]
    console.say(f"written to {folder}: {', '.join(files)}")
    console.report({"ok": code == 0, "exit_code": code, **result.to_dict()})
    return code
