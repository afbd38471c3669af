"""Contact events of a run: when which point touched or let go, how fast, with what impulse and peak force."""

import equinox as eqx
import numpy as np

from .stepping.log import RELEASE, TOUCH, TURN, Log

_WORDS = {TOUCH: "touch", RELEASE: "release", TURN: "turn"}


class Events(eqx.Module):
    """The log of contacts. Arrays keep their fixed length and their derivatives (`log.time`, `log.speed`, ...);
    everything else here looks at the rows that were filled."""

    labels: tuple[str, ...] = eqx.field(static=True)  # of contact points, `connection: point`
    log: Log

    @property
    def overflow(self):
        """Whether there were more events than rows."""
        return self.log.count > self.log.kind.shape[0]

    def __len__(self):
        return min(int(self.log.count), self.log.kind.shape[0])

    def rows(self, kind=None, connection=None):
        """Indices into the log of the events of one kind (`touch`, `release`, `turn`) at one connection."""
        words = {w: k for k, w in _WORDS.items()}
        if kind is not None and kind not in words:
            raise ValueError(f"events: `{kind}` is not a kind of event. Known: {', '.join(words)}.")
        known = dict.fromkeys(label.split(":")[0] for label in self.labels)
        if connection is not None and connection not in known:
            raise ValueError(f"events: `{connection}` has no contact points. Known: {', '.join(known)}.")
        here = np.arange(len(self))
        if kind is not None:
            here = here[np.asarray(self.log.kind)[here] == words[kind]]
        if connection is not None:
            here = np.array(
                [k for k in here if self.labels[int(self.log.point[k])].split(":")[0] == connection], dtype=int
            )
        return here

    def table(self):
        """The events as a list of dictionaries; impulse (N s) and peak force (N) of a contact stand at its release."""
        found = []
        for k in range(len(self)):
            connection, point = self.labels[int(self.log.point[k])].split(": ")
            kind = int(self.log.kind[k])
            row = {
                "time": float(self.log.time[k]),
                "event": _WORDS[kind],
                "connection": connection,
                "point": point,
                "speed": float(self.log.speed[k]),
                "grazing": bool(self.log.grazing[k]),
            }
            if kind == RELEASE:
                row |= {"impulse": float(self.log.impulse[k]), "peak_force": float(self.log.peak[k])}
            found.append(row)
        return found
