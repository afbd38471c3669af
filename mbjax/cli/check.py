"""`mbjax check study.toml`: can these data give these parameters? Exit code 4 if not."""

from .environment import prepare


def add_arguments(parser):
    parser.add_argument("study", help="study file (TOML)")


def run(options, console):
    """Load, check, print."""
    prepare()
    from identification import check
    from identification.study import load_study

    console.progress("reading and compiling ...")
    found = check(load_study(options.study).problem)
    console.say(str(found))
    code = 0 if found.ok else 3 if not found.verdicts else 4
    verdicts = {v.name: {"verdict": v.word, "deviation": v.deviation, "alone": v.alone} for v in found.verdicts}
    console.report(
        {
            "ok": found.ok,
            "exit_code": code,
            "verdicts": verdicts,
            "problems": list(found.problems),
            "remarks": list(found.remarks),
            "horizon": found.horizon,
        }
    )
    return code
