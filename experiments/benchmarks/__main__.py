"""`python -m experiments.benchmarks [--only TEXT] [--json FILE]`: mbjax side by side with its peers."""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import time

from . import contact_cases
from . import slider_crank as p1
from .timing import isolated

MICROSECONDS = ("right-hand side", contact_cases.STEP)
RIGID = "rigid bodies, "
TOLERANCE = 7e-6  # at which a plain run of the slider-crank is within its limit
EXUDYN = [
    ("tree", "trapezoidal index 2", {}),
    ("rotation vector", "trapezoidal index 2", {}),
    ("Euler parameters", "trapezoidal index 2", {}),
    # Explicit methods take no joints: the loop is closed by a spring instead.
    ("tree", "RK44", {"stiffness": 1e8, "highest": 1e4}),
]
FULL = [
    ("tree", "generalized alpha", {}),
    ("rotation vector", "generalized alpha", {}),
    ("Euler parameters", "generalized alpha", {}),
    ("Tait-Bryan", "trapezoidal index 2", {}),
]


def cases(limit, repeats, full):
    """Group, name, task and arguments of every row."""
    common = {"limit": limit, "repeats": repeats}
    for solver in ("Dopri8", "Tsit5"):
        yield "slider-crank", f"mbjax {solver}", "mbjax_cases:slider_crank", {"solver": solver, **common}
    for formulation, solver, more in EXUDYN + (FULL if full else []):
        what = "tree" if formulation == "tree" else RIGID + formulation
        what += " closed by a spring" if "stiffness" in more else ""
        arguments = {"formulation": formulation, "solver": solver, **more, **common}
        yield "slider-crank", f"Exudyn {what}, {solver}", "exudyn_slider_crank:measure", arguments
    for integrator in ("RK4", "implicit", "implicitfast", "Euler"):
        arguments = {"integrator": integrator, **common}
        yield "slider-crank", f"MuJoCo {integrator}", "mujoco_slider_crank:measure", arguments
    group, task = f"slider-crank, derivatives at rtol {TOLERANCE:g}", "mbjax_cases:gradient"
    for adjoint, counts in ((None, [0]), ("Tangents", (4, 8, 16)), ("ForwardMode", (4, 8, 16))):
        for count in counts:
            name = f"{adjoint} by {count} parameters" if adjoint else contact_cases.PLAIN
            arguments = {"adjoint": adjoint, "count": count, "repeats": repeats, "rtol": TOLERANCE}
            yield group, f"mbjax {name}", task, arguments
    group = f"slider-crank, derivatives within {p1.SLOPE_LIMIT:g} m"
    for adjoint in ("Tangents", "ForwardMode"):
        yield group, f"mbjax {adjoint} by 4 parameters", task, {"adjoint": adjoint, "count": 4, **common}
    arguments = {"count": 4, "formulation": "tree", "solver": "trapezoidal index 2", **common}
    yield group, "Exudyn tree, central differences by 4", "exudyn_slider_crank:differences", arguments
    for builder, number in (("slider_crank_3d", None), ("chain", 16), ("chain", 64)):
        name = builder if number is None else f"{builder}({number})"
        arguments = {"builder": builder, "number": number, "repeats": repeats}
        yield "right-hand side", f"mbjax {name}", "mbjax_cases:right_hand_side", arguments
    for builder, number in (("n_four_bar", 40), ("chain", 64)):
        arguments = {"builder": builder, "number": number, "repeats": repeats}
        yield "compilation", f"mbjax {builder}({number})", "mbjax_cases:compilation", arguments
    yield from contact_cases.cases(repeats, full)
    group, common = "sweep, P1's slider-crank, per variant", {"name": "ideal", "limit": limit, "repeats": repeats}
    for variants in (256, 1024):
        yield group, f"mbjax {variants} variants", "sweeps:measure", {"variants": variants, **common}
    yield group, "MuJoCo rollout", "sweeps:rollout", {"limit": limit, "repeats": repeats}
    for formulation in ("tree", "rotation vector"):
        arguments = {"formulation": formulation, "solver": "trapezoidal index 2", "limit": limit, "repeats": repeats}
        yield group, f"Exudyn {formulation}, trapezoidal index 2", "exudyn_slider_crank:measure", arguments
    group, common = "sweep, planar with clearance, per variant", {"limit": contact_cases.p2.LIMIT, "repeats": repeats}
    yield group, "mbjax 256 variants", "sweeps:measure", {"name": "clearance", "variants": 256, **common}
    for formulation, solver in (("tree", "DOPRI5"), ("rigid bodies", "trapezoidal index 2")):
        arguments = {"formulation": formulation, "solver": solver, **common}
        yield group, f"Exudyn {formulation}, {solver}", "exudyn_clearance:measure", arguments


def conditions(core):
    """Machine, versions and load."""
    versions = {}
    for package in ("mbjax", "jax", "jaxlib", "diffrax", "exudyn", "mujoco", "numpy", "scipy"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "from the checkout" if package == "mbjax" else "not installed"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "core": core,
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": versions,
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _processor():
    """Name of the processor, where the system tells."""
    file = pathlib.Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def add_ratios(rows):
    """CPU time over that of the fastest mbjax row of the group that is within the error, or over the plain row."""
    for group in {row["group"] for row in rows} - {"right-hand side", "compilation"}:
        same = [r for r in rows if r["group"] == group and "seconds" in r]
        plain = [r["seconds"] for r in same if r["name"].endswith(contact_cases.PLAIN)]
        ours = plain or [r["seconds"] for r in same if r["name"].startswith("mbjax") and r.get("reached")]
        for row in same if ours else []:
            row["ratio"] = row["seconds"] / min(ours)


def line(row):
    """One row of the table."""
    if "failure" in row:
        return f"{row['name']:<52} {row['failure']}"
    error = f"{row['error']:.1e}" if "error" in row else "-"
    error += "" if row.get("reached", True) else " !"
    time_unit = 1e6 if row["group"] in MICROSECONDS else 1e3
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else "-"
    compile_time = f"{row['compile']:.2f}" if "compile" in row else "-"
    cpu = f"{row['seconds'] * time_unit:.2f}"
    return f"{row['name']:<52} {error:>9} {cpu:>10} {ratio:>7} {compile_time:>9}  {row['setting']}"


def main():
    """Measure all rows, print them as they come, and write the numbers."""
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmarks", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write all numbers there")
    parser.add_argument("--only", default="", help="rows whose group or name contains this text")
    parser.add_argument("--core", type=int, default=max(_cores()), help="core to measure on (default: the last)")
    parser.add_argument("--repeats", type=int, default=3, help="best of at least so many")
    parser.add_argument("--limit", type=float, default=p1.LIMIT, help="error to reach in the slider-crank (m)")
    parser.add_argument("--full", action="store_true", help="also the slower Exudyn formulations (many minutes)")
    options = parser.parse_args()
    before = conditions(options.core)
    print(f"P1 slider-crank, {p1.END:g} s, error of the slider position within {options.limit:g} m (`!`: not reached);")
    print("mechanisms with clearance: error as in the heading;", end=" ")
    print(f"CPU time on core {options.core}, best of {options.repeats} or more; load {before['load']}")
    rows, heading = [], None
    for group, name, task, arguments in cases(options.limit, options.repeats, options.full):
        if options.only.lower() not in f"{group} {name}".lower():
            continue
        if group != heading:
            heading = group
            unit = "CPU/us" if group in MICROSECONDS else "CPU/ms"
            print(f"\n{group:<52} {'error':>9} {unit:>10} {'ratio':>7} {'compile/s':>9}  setting")
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        result = isolated(task, options.core, timeout=900.0, **arguments)
        rows.append({"group": group, "name": name, "load": load, **result})
        add_ratios(rows)
        print(line(rows[-1]), flush=True)
    after = conditions(options.core)
    print(f"\nload {after['load']}")
    if options.json:
        numbers = {"limit": options.limit, "repeats": options.repeats, "before": before, "after": after, "rows": rows}
        pathlib.Path(options.json).write_text(json.dumps(numbers, indent=2) + "\n")


def _cores():
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {0}


if __name__ == "__main__":
    main()
