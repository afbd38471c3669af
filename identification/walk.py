"""Where the iteration of a fit stands, and how a walk asks for what it needs.

A walk is a generator: it yields `(what, u)` and is sent the answer, None where the simulation fails. So several walks
can be advanced together (`abreast`), and one alone by `alone`.
"""

import dataclasses

import numpy as np

RESIDUALS, LINEARISED = "residuals", "linearised"  # what a walk asks for
CONVERGED, STUCK, EXHAUSTED = "converged", "stuck", "exhausted"


@dataclasses.dataclass
class Walk:
    """Where the iteration stands. Floats survive JSON exactly, so a resumed walk goes on bit by bit."""

    u: np.ndarray
    damping: float = 1e-3
    growth: float = 2.0
    scale: np.ndarray | None = None  # largest column norms so far (More)
    iteration: int = 0
    evaluations: int = 0
    status: str = ""
    memory: dict | None = None  # what else the optimiser keeps

    def to_json(self):
        scale = None if self.scale is None else self.scale.tolist()
        return {**dataclasses.asdict(self), "u": self.u.tolist(), "scale": scale}

    @staticmethod
    def from_json(table):
        scale = None if table["scale"] is None else np.array(table["scale"])
        return Walk(**{**table, "u": np.array(table["u"]), "scale": scale})


def alone(walk, residuals, linearised):
    """What a walk returns, answered by two functions of u."""
    answers = {RESIDUALS: residuals, LINEARISED: linearised}
    try:
        what, u = next(walk)
        while True:
            what, u = walk.send(answers[what](u))
    except StopIteration as end:
        return end.value
