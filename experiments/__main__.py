"""`python -m experiments list | run NAME | run all | figures [--quick] [--out DIR]`: studies of papers and of users.

`figures` takes the pictures of the documentation from the studies in DIR."""

import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

from .figures import take

STUDIES = (  # `run all` begins in this order; long ones early leave no core idle at the end
    "p1_slider_crank", "double_pendulum", "p1_triple_pendulum", "p2_slider_crank", "p3_four_bar",
    "p4_p5_slider_crank", "bifurcation",
    "friction_map", "tornado", "laws", "solvers", "smoothing", "clearance_fit", "film_viscosity", "coverage",
    "suspension_corner", "corner_bushings",
)  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("action", choices=("list", "run", "figures"))
    parser.add_argument("name", nargs="?", help="a study, or `all`")
    parser.add_argument("--quick", action="store_true", help="shorter runs and fewer cases")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/experiments"))
    parser.add_argument("--jobs", type=int, default=_cores(), help="studies side by side (all); default: one per core")
    parser.add_argument("--again", action="store_true", help="run studies whose summary is there already")
    options = parser.parse_args(arguments)
    if options.action == "list":
        for name in STUDIES:
            print(f"{name:22} {importlib.import_module(f'experiments.{name}').__doc__.splitlines()[0]}")
        return 0
    if options.action == "figures":
        missing = take(options.out)
        print("\n".join(f"not drawn yet: {name}" for name in missing) or "all taken")
        return 1 if missing else 0
    names = STUDIES if options.name == "all" else (options.name,)
    unknown = [n for n in names if n not in STUDIES]
    if unknown:
        print(f"There is no study `{unknown[0]}`. Known: {', '.join(STUDIES)}, all.")
        return 2
    if len(names) > 1 and options.jobs > 1:
        return _side_by_side(names, options)
    import jax

    jax.config.update("jax_enable_x64", True)
    from .study import Study

    for name in names:
        folder = options.out / name
        summary = folder / "summary.json"
        if summary.exists() and not options.again and json.loads(summary.read_text())["quick"] == options.quick:
            print(f"{name}: done already ({summary})")
            continue
        begin = time.perf_counter()
        module = importlib.import_module(f"experiments.{name}")
        study = Study(folder, options.quick, module.__doc__)
        module.run(study)
        study.finish(time.perf_counter() - begin)
        print(f"{name}: {time.perf_counter() - begin:.0f} s, written to {folder}", flush=True)
    return 0


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _side_by_side(names, options):
    """Every study in a process of its own, a few at a time. 1 if one fails."""

    def one(name):
        flags = [f for f, on in (("--quick", options.quick), ("--again", options.again)) if on]
        command = [sys.executable, "-m", "experiments", "run", name, "--out", str(options.out), *flags]
        return subprocess.run(command).returncode

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        codes = dict(zip(names, pool.map(one, names), strict=True))
    failed = [name for name, code in codes.items() if code]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
