"""The command line: `mbjax VERB`. One module per verb, imported only when it is used."""

import argparse
import importlib
import sys
import warnings

from ..errors import ModelWarning
from .console import Console

OK, MODEL_ERROR, SOLVER_FAILURE, NOT_IDENTIFIABLE, INTERRUPTED = 0, 2, 3, 4, 130

# Verb: the module with `add_arguments(parser)` and `run(arguments, console) -> exit code`, and a line of help.
VERBS = {
    "simulate": ("mbjax.cli.simulate", "simulate a model file and write its motion"),
    "sensitivity": ("mbjax.cli.sensitivity", "say which number moves which output of a model, and when"),
    "sweep": ("mbjax.cli.sweep", "simulate thousands of variants of a model; go on, merge and plot"),
    "view": ("mbjax.cli.view", "make an HTML page that shows a simulated motion"),
    "check": ("mbjax.cli.check", "say which parameters a study's data can tell"),
    "fit": ("mbjax.cli.fit", "fit the parameters of a study to its data"),
    "profile": ("mbjax.cli.profile", "say how far each fitted parameter can move before the data object"),
    "doctor": ("mbjax.cli.doctor", "check the installation and say what it runs on"),
}


def main(arguments=None):
    """Run one verb; returns the exit code (0 ok, 2 usage or model error, 3 solver failure, 4 not identifiable, 130
    interrupted)."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(prog="mbjax", description="Dynamics of mechanisms with imperfect joints.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    chosen = None
    for verb, (module, text) in VERBS.items():
        sub = verbs.add_parser(verb, help=text, description=text)
        if verb in given:
            chosen = importlib.import_module(module)
            chosen.add_arguments(sub)
        sub.add_argument("--json", action="store_true", help="print one JSON object on stdout, all else on stderr")
    options = parser.parse_args(given)
    console = Console(options.json)
    with warnings.catch_warnings():
        warnings.simplefilter("always", ModelWarning)
        warnings.showwarning = console.show_warning
        try:
            return importlib.import_module(VERBS[options.verb][0]).run(options, console)
        except KeyboardInterrupt:
            return console.fail(INTERRUPTED, ["interrupted."])
        except Exception as error:
            return console.fail_with(error)


if __name__ == "__main__":
    raise SystemExit(main())
