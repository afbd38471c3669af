"""Measures of contacts, from the log of events: exact in time, not tied to output times, with exact derivatives."""

import equinox as eqx
import jax.numpy as jnp

from mbjax.stepping.log import RELEASE, TOUCH

from ..errors import StudyError
from .base import AbstractMeasure

# Quantity: the kind of event at which it stands in the log, its column, and how it is called.
_QUANTITIES = {
    "time": (TOUCH, "time", "touch {} time"),
    "speed": (TOUCH, "speed", "touch {} speed"),
    "peak force": (RELEASE, "peak", "contact {} peak force"),
    "impulse": (RELEASE, "impulse", "contact {} impulse"),
}


def _points_of(trajectory, connection):
    """Which contact points are those of the connection (points,)."""
    owners = [label.split(":")[0] for label in trajectory.events.labels]
    if connection not in owners:
        known = ", ".join(dict.fromkeys(owners)) or "none has"
        raise KeyError(f"`{connection}` has no contact points. Connections that have: {known}.")
    return jnp.array([owner == connection for owner in owners])


class Contacts(AbstractMeasure):
    """A quantity of the first `count` contacts of a connection: `time` (s) and `speed` of touch, `peak force` (N or
    N m) and `impulse` of those that have ended. `room` is the number of rows of the log (two per contact)."""

    connection: str = eqx.field(static=True)
    quantity: str = eqx.field(static=True)
    count: int = eqx.field(static=True, default=5)
    room: int = eqx.field(static=True, default=200)

    def __check_init__(self):
        if self.quantity not in _QUANTITIES:
            raise StudyError(f"Contacts: quantity `{self.quantity}` is unknown; choose {', '.join(_QUANTITIES)}.")

    @property
    def events(self):
        return self.room

    def labels(self):
        name = _QUANTITIES[self.quantity][2]
        return tuple(f"{self.connection} {name.format(k + 1)}" for k in range(self.count))

    def __call__(self, trajectory):
        kind, column, _ = _QUANTITIES[self.quantity]
        log = trajectory.log
        chosen = (log.kind == kind) & _points_of(trajectory, self.connection)[log.point]
        rank = jnp.cumsum(chosen) - 1
        place = jnp.where(chosen & (rank < self.count), rank, self.count)
        return jnp.full(self.count, jnp.nan).at[place].set(getattr(log, column), mode="drop")


class ContactCount(AbstractMeasure):
    """Number of touches of a connection; NaN if the log had too few rows for all of them."""

    connection: str = eqx.field(static=True)
    room: int = eqx.field(static=True, default=1000)

    @property
    def events(self):
        return self.room

    def labels(self):
        return (f"{self.connection} touches",)

    def __call__(self, trajectory):
        log = trajectory.log
        count = jnp.sum((log.kind == TOUCH) & _points_of(trajectory, self.connection)[log.point])
        return jnp.where(trajectory.events.overflow, jnp.nan, 1.0 * count)[None]


class LargestForce(AbstractMeasure):
    """The largest normal force (N or N m) of all contacts of a connection, one that lasts at the end included; NaN if
    the log had too few rows."""

    connection: str = eqx.field(static=True)
    room: int = eqx.field(static=True, default=1000)

    @property
    def events(self):
        return self.room

    def labels(self):
        return (f"{self.connection} largest force",)

    def __call__(self, trajectory):
        log, own = trajectory.log, _points_of(trajectory, self.connection)
        ended = (log.kind == RELEASE) & own[log.point]
        over = jnp.max(jnp.where(ended, log.peak, 0.0), initial=0.0)
        lasting = jnp.max(jnp.where(own, log.peak_so_far, 0.0), initial=0.0)
        return jnp.where(trajectory.events.overflow, jnp.nan, jnp.maximum(over, lasting))[None]
