"""`mbjax sweep run study.toml --out DIR | status DIR | merge DIR | plot DIR`: thousands of variants of a model."""

import pathlib
import re

from ..errors import ModelError
from .environment import prepare


def add_arguments(parser):
    parser.add_argument("action", choices=("run", "status", "merge", "plot"))
    parser.add_argument("target", help="run: study file (TOML); otherwise the folder of a sweep")
    parser.add_argument("--out", help="run: folder of the sweep; plot: the picture (default: sweep.png in the folder)")
    parser.add_argument("--shard", metavar="I/N", help="run: only chunks I, I + N, ...; merge when all shards are done")
    parser.add_argument("--devices", type=int, default=1, help="run: split each chunk over so many processor cores")
    parser.add_argument("--measure", help="plot: the measure (default: the first)")
    parser.add_argument("--x", help="plot: the path along x (default: the first)")
    parser.add_argument("--y", help="plot: a second path makes a map")


def run(options, console):
    """Do one of the four."""
    return {"run": _run, "status": _status, "merge": _merge, "plot": _plot}[options.action](options, console)


def _run(options, console):
    if options.out is None:
        raise ModelError(["`mbjax sweep run` needs `--out DIR`: chunks are files, so that a sweep can go on later."])
    if options.devices > 1:
        import jax

        jax.config.update("jax_num_cpu_devices", options.devices)
    prepare()
    from identification.study import load_sweep
    from identification.sweep import status, sweep

    shard = _shard(options.shard)
    study = load_sweep(options.target)
    console.progress("compiling ...")
    try:
        result = sweep(
            study.mechanism, study.samples, study.measures, study.ts, out=options.out, shard=shard,
            note=console.progress, **study.settings,
        )  # fmt: skip
    except KeyboardInterrupt:
        console.say(f"interrupted; finished chunks are kept, the same command goes on. {_told(options.out, status)}")
        raise
    if result is None:
        found = status(options.out)
        console.say(str(found))
        console.report({"ok": True, "exit_code": 0, "chunks": found.chunks, "done": list(found.done)})
        return 0
    return _report(result, options.out, console)


def _told(folder, status):
    return str(status(folder)) if (pathlib.Path(folder) / "manifest.json").exists() else ""


def _shard(text):
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found:
        raise ModelError([f"--shard {text}: expected I/N, such as 3/20."])
    return int(found[1]), int(found[2])


def _report(result, folder, console):
    console.say(str(result))
    console.say(f"written to {folder}: sweep.npz, sweep.json")
    console.report({
        "ok": True, "exit_code": 0, "variants": len(result), "failed": int(result.failed.size),
        "labels": list(result.labels), "folder": str(folder),
    })  # fmt: skip
    return 0


def _status(options, console):
    from identification.sweep import status

    found = status(options.target)
    console.say(str(found))
    console.report({
        "ok": True, "exit_code": 0, "chunks": found.chunks, "done": list(found.done), "damaged": list(found.damaged),
        "variants": found.variants, "failed": found.failed,
    })  # fmt: skip
    return 0


def _merge(options, console):
    from identification.sweep import merge

    return _report(merge(options.target), options.target, console)


def _plot(options, console):
    from identification.sweep import SweepResult
    from identification.sweep.plot import parameter_map, scatter

    result = SweepResult.load(options.target)
    path = options.out or str(pathlib.Path(options.target) / "sweep.png")
    label = options.measure or result.labels[0]
    x = options.x or result.samples.paths[0]
    if options.y:
        parameter_map(result, label, x, options.y, path)
    else:
        scatter(result, [label], x, path)
    console.say(f"written: {path}")
    console.report({"ok": True, "exit_code": 0, "picture": path})
    return 0
