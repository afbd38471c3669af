"""`mbjax view RESULT --out page.html`: an HTML page that shows what `mbjax simulate --out RESULT` wrote."""

import pathlib

from ..errors import ModelError
from .environment import prepare


def add_arguments(parser):
    parser.add_argument("motion", help="folder of `mbjax simulate`, or the .npz of a saved trajectory")
    parser.add_argument("--out", required=True, help="the page, e.g. motion.html")
    parser.add_argument("--channel", action="append", help="plot this channel (may be repeated)")
    parser.add_argument("--frames", type=int, default=600, help="most output times to keep (default 600)")


def run(options, console):
    """Read, make the page, write."""
    prepare()
    from ..trajectory import Trajectory

    trajectory = Trajectory.load(_file(pathlib.Path(options.motion)))
    try:
        page = trajectory.view(options.out, options.channel, frames=options.frames)
    except KeyError as error:
        raise ModelError(f"--channel: {error.args[0]}") from None
    size = len(page.html.encode())
    console.say(f"written to {page.path}: {page.name}, {size / 1e6:.2f} MB; open it in a browser")
    message = trajectory.result.message
    if not trajectory.result.success:
        console.say(f"the motion is incomplete: {message}")
    console.report({"ok": True, "exit_code": 0, "page": str(page.path), "bytes": size, "message": message})
    return 0


def _file(given):
    found = given / "trajectory.npz" if given.is_dir() else given.with_suffix(".npz")
    missing = [str(p) for p in (found, found.with_suffix(".json")) if not p.is_file()]
    if missing:
        raise ModelError(f"{given}: no {' and no '.join(missing)}; `mbjax simulate MODEL --out {given}` writes them.")
    return found
