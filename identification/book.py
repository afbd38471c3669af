"""Where a fit stands: every start on its way, the history, and the file that both survive in."""

import dataclasses
import json
import pathlib

import numpy as np

from mbjax.files import Atomic

from .errors import StudyError
from .walk import Walk


@dataclasses.dataclass(eq=False)
class Track:
    """One start of a fit and how far it has come."""

    first: list  # u where it began
    walk: Walk
    sigmas: list  # noise of each run
    stage: int = 0
    round: int = 0
    hold: float | None = None  # how far off the stage was at its beginning
    reached: dict | None = None  # u, cost, deviance, horizon, sigmas, status where it was last noted
    done: bool = False

    def to_json(self):
        return {**vars(self), "walk": self.walk.to_json()}

    @staticmethod
    def from_json(table):
        return Track(**{**table, "walk": Walk.from_json(table["walk"])})

    def note(self, problem, cost, horizon, status="unfinished"):
        """Remember where the walk is. Starts with noise of their own are compared by their deviance, not their cost."""
        deviance = problem.deviance(2 * cost, horizon)
        self.reached = {
            "u": self.walk.u.tolist(), "cost": cost, "deviance": deviance, "horizon": horizon, "sigmas": self.sigmas,
            "status": status,
        }  # fmt: skip


class Book:
    """All starts of a fit (none before they are drawn), its history, and its file."""

    def __init__(self, problem, path, settings):
        self.path = None if path is None else pathlib.Path(path)
        self.key = {
            "names": list(problem.names),
            "starts": problem.space.start.tolist(),
            "data": problem.digests(),
            **settings,
        }
        self.tracks, self.history = [], []
        if self.path is not None and self.path.exists():
            self._read()

    def _read(self):
        try:
            table = json.loads(self.path.read_text())
        except (OSError, ValueError) as error:
            raise StudyError(
                f"{self.path}: the checkpoint cannot be read ({error}); delete it to begin anew."
            ) from None
        if table.get("key") != self.key:
            raise StudyError(f"{self.path}: this checkpoint belongs to another study; delete it to begin anew.")
        try:
            self.tracks = [Track.from_json(track) for track in table["tracks"]]
            self.history = table["history"]
        except (KeyError, TypeError):
            raise StudyError(
                f"{self.path}: this checkpoint is of another version of mbjax; delete it to begin anew."
            ) from None

    def begin(self, points, sigmas):
        """Put a track at every point."""
        noise = [np.asarray(s).tolist() for s in sigmas]
        self.tracks = [Track(np.asarray(u).tolist(), Walk(np.array(u, dtype=float)), noise) for u in points]

    def write(self):
        if self.path is None:
            return
        tracks = [track.to_json() for track in self.tracks]
        with Atomic(self.path, "w") as file:
            json.dump({"key": self.key, "tracks": tracks, "history": self.history}, file)

    def best(self):
        """Of the tracks that have come farthest, the one that explains the data best; None before the first step."""
        reached = [t.reached for t in self.tracks if t.reached is not None]
        farthest = max((r["horizon"] for r in reached), default=None)
        return min((r for r in reached if r["horizon"] == farthest), key=lambda r: r["deviance"], default=None)
