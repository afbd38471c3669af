"""Collecting every fault of a file before giving up."""

from ..errors import ModelError, did_you_mean


class Faults:
    """Messages `file: key.path: what is wrong`, in the order found."""

    def __init__(self, source):
        self.source = source
        self.messages = []

    def add(self, path, message):
        """Note a fault; returns None, so that a reader can `return faults.add(...)`."""
        where = f"{self.source}: {path}: " if path else f"{self.source}: "
        self.messages.append(where + message)

    def unknown_keys(self, path, table, known):
        for key in table:
            if key not in known:
                self.add(join(path, key), f"unknown key.{did_you_mean(key, known)} Known here: {', '.join(known)}.")

    def missing(self, path, key, example, note=""):
        self.add(join(path, key), f"missing; write `{key} = {example}`{note}.")

    def choice(self, path, value, what, known):
        """Note a word that is none of the known ones."""
        listing = ", ".join(f"`{k}`" for k in known) or "none"
        shown = f"`{value}`" if isinstance(value, str) else repr(value)
        self.add(path, f"{shown} is not {what}.{did_you_mean(str(value), known)} Known: {listing}.")

    def raise_any(self):
        if self.messages:
            raise ModelError(self.messages)


def join(path, key):
    plain = isinstance(key, int) or key.replace("_", "a").replace("-", "a").isalnum()
    if isinstance(key, int):
        return f"{path}[{key}]"
    key = key if plain else f'"{key}"'
    return f"{path}.{key}" if path else key


def describe(value):
    """A value of a file in words, with its TOML type."""
    names = {dict: "a table", list: "a list", str: "text", bool: "true/false", int: "a number", float: "a number"}
    shown = repr(value)
    return f"{names.get(type(value), type(value).__name__)} ({shown if len(shown) < 40 else shown[:37] + '...'})"
