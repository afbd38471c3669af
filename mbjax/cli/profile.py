"""`mbjax profile study.toml --out DIR`: profile likelihood around the fit in DIR, written to profile.json and the
report."""

import json
import pathlib

from .environment import prepare


def add_arguments(parser):
    parser.add_argument("study", help="study file (TOML)")
    parser.add_argument("--out", required=True, help="folder with the results of `mbjax fit`")
    parser.add_argument("--parameter", action="append", help="only this parameter (may be repeated)")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level (default 0.95)")


def run(options, console):
    """Read study and fit, walk along every parameter, write."""
    prepare()
    from identification import FitResult, Repeats, StudyError, profile, save_profiles, write_report
    from identification.study import load_study

    if not 0 < options.level < 1:
        raise StudyError(f"--level {options.level:g} must lie between 0 and 1.")
    console.progress("reading and compiling ...")
    problem = load_study(options.study).problem
    folder = pathlib.Path(options.out)
    result = FitResult.load(folder)
    if result.names != problem.names or result.provenance["settings"]["data"] != problem.digests():
        raise StudyError(f"{folder}: this fit belongs to another study or other data; run `mbjax fit` again.")
    problem.take_sigmas(result.channels)
    found = []
    for name in options.parameter or result.names:
        found.append(profile(problem, result, name, level=options.level))
        console.say(str(found[-1]))
    save_profiles(found, folder / "profile.json")
    kept = folder / "repeats.json"  # of a fit that was asked for it
    spread = Repeats.from_dict(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else None
    write_report(problem, result, folder / "report.html", found, spread)
    console.say(f"written to {folder}: profile.json, report.html")
    console.report({"ok": True, "exit_code": 0, "profiles": [p.to_dict() for p in found]})
    return 0
