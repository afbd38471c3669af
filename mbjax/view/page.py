"""Assembling the page: one HTML file with the scene, three.js and the viewer inside, so that it needs nothing else."""

import html
import importlib.resources
import json
import pathlib

from ..files import Atomic

SCRIPTS = ("motion.js", "solids.js", "joints.js", "world.js", "plots.js", "controls.js")


class Page:
    """A page that shows a motion: `html` is its text, `path` its file (None if it was not written).

    A notebook shows it where it is the value of a cell.
    """

    def __init__(self, text, name, path=None):
        self.html, self.name, self.path = text, name, path

    def write(self, path):
        """The same page, written to `path`."""
        with Atomic(path, "w", encoding="utf-8") as file:
            file.write(self.html)
        return Page(self.html, self.name, pathlib.Path(path))

    def _repr_html_(self):
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.name)}" '
            'style="width:100%;height:640px;border:0" allowfullscreen></iframe>'
        )

    def __repr__(self):
        where = f"in {self.path}" if self.path is not None else "not written to a file"
        return f"Page of {self.name}, {len(self.html.encode()) / 1e6:.2f} MB, {where}"


def make_page(scene):
    """The page of a scene (see `make_scene`)."""
    code = "".join(_file("web", name) for name in SCRIPTS)
    parts = {
        "TITLE": html.escape(scene["name"]),
        "STYLE": _file("web", "style.css"),
        "SCENE": json.dumps(scene, separators=(",", ":"), allow_nan=False).replace("</", "<\\/"),
        "THREE": f"/*\n{_file('three', 'LICENSE')}*/\n{_file('three', 'bundle.js')}",
        "VIEWER": f'(function () {{\n"use strict";\n{code}}})();\n',
    }
    text = _file("web", "template.html")
    pieces = text.split("@@")  # text, name, text, name, ... so that no part is searched for the names of others
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return Page("".join(pieces), scene["name"])


def _file(*names):
    return importlib.resources.files(__package__).joinpath(*names).read_text(encoding="utf-8")
