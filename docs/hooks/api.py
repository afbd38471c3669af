"""The API reference: pages made from the docstrings of all public names when the site is built."""

import importlib
import inspect

from mkdocs.structure.files import File

PACKAGES = {
    "mbjax": ("mbjax", "mbjax.library", "mbjax.signal"),
    "identification": ("identification", "identification.measure"),
}


def on_files(files, config):
    """Add the pages to the site."""
    for name, modules in PACKAGES.items():
        files.append(File.generated(config, f"api/{name}.md", content=page(name, modules)))
    return files


def page(name, modules):
    """All public names of the modules, with signatures and docstrings."""
    lines = [f"# {name}", "", inspect.getdoc(importlib.import_module(name)) or "", ""]
    for module in modules:
        lines += [f"## {module}", ""]
        found = importlib.import_module(module)
        for public in sorted(names(found), key=str.lower):
            lines += entry(getattr(found, public), public)
    return "\n".join(lines)


def names(module):
    """Its public names, but for modules."""
    listed = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    return [n for n in listed if not inspect.ismodule(getattr(module, n))]


def entry(thing, name):
    """Heading, signature and docstring of one name, and the public methods of a class."""
    lines = [f"### {name}", ""]
    if callable(thing):
        lines += ["```text", signature(thing, name), "```", ""]
    if inspect.getdoc(thing) and (callable(thing) or inspect.isclass(thing)):
        lines += [inspect.getdoc(thing), ""]
    if inspect.isclass(thing):
        for method, function in sorted(vars(thing).items()):
            text = inspect.getdoc(function) if not method.startswith("_") else None
            if text and (inspect.isfunction(function) or isinstance(function, property)):
                lines += [f"**{method}**: {text}", ""]
    return lines


def signature(thing, name):
    """As one would call it."""
    try:
        return f"{name}{inspect.signature(thing)}"
    except (TypeError, ValueError):
        return name
