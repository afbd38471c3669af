"""Errors and warnings of the model: each says got, expected, cure, and names the part."""

import difflib


class ModelError(ValueError):
    """A model that makes no sense. `faults` lists every fault found, one sentence each."""

    def __init__(self, faults):
        self.faults = [faults] if isinstance(faults, str) else list(faults)
        super().__init__("\n".join(self.faults))


class ModelWarning(UserWarning):
    """A model that is legal but may not be what was meant."""


class SimulationError(RuntimeError):
    """A simulation or root search that did not succeed, with the reason."""


def did_you_mean(word, known):
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean `{close[0]}`?" if close else ""


def unknown(part, what, word, known):
    """The sentence for a name that does not exist."""
    known = list(known)
    listing = ", ".join(known) if known else "none"
    return f"{part} refers to {what} `{word}`, which the mechanism does not have.{did_you_mean(word, known)} " + (
        f"Known: {listing}."
    )
