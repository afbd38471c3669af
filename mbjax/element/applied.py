from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import vector
from ..rotation import cross
from ..signal import AbstractSignal
from .base import AbstractElement, AbstractLoad


class AppliedForce(AbstractElement):
    """A force (or a pure torque) of given course on a body.

    `direction` times `signal` is the load; it stays fixed in global axes or follows the body (`axes="body"`). A force
    acts at `point` (body coordinates), a torque (`kind="torque"`) needs no point.
    """

    name: str = eqx.field(static=True)
    body: str = eqx.field(static=True)
    signal: AbstractSignal  # N or N m
    direction: np.ndarray = eqx.field(converter=vector)
    point: np.ndarray = eqx.field(converter=vector, default=(0.0, 0.0, 0.0))  # m
    kind: Literal["force", "torque"] = eqx.field(static=True, default="force")
    axes: Literal["global", "body"] = eqx.field(static=True, default="global")

    def __check_init__(self):
        if self.kind not in ("force", "torque"):
            raise ValueError(f"AppliedForce `{self.name}`: kind {self.kind!r}; choose `force` or `torque`.")
        if self.axes not in ("global", "body"):
            raise ValueError(f"AppliedForce `{self.name}`: axes {self.axes!r}; choose `global` or `body`.")

    def attaches_to(self):
        return (self.body,), ()

    def bind(self, places):
        point = jnp.asarray(self.point)
        body = places.bodies[self.body]
        return _AppliedForce(body, self.kind, self.axes, self.signal.prepared(), jnp.asarray(self.direction), point)

    def knots(self):
        return self.signal.knots()


class _AppliedForce(AbstractLoad):
    body: int = eqx.field(static=True)
    kind: str = eqx.field(static=True)
    axes: str = eqx.field(static=True)
    signal: Callable
    direction: jax.Array
    point: jax.Array

    def _wrench(self, moving, t):
        turn = moving.orientation[self.body]
        load = self.signal(t) * (turn @ self.direction if self.axes == "body" else self.direction)
        if self.kind == "torque":
            return jnp.concatenate([jnp.zeros(3), load])
        return jnp.concatenate([load, cross(turn @ self.point, load)])

    def wrenches(self, model, moving, memory, t):
        return (self.body,), self._wrench(moving, t)[None]

    def stored(self, model, moving, memory, t):
        return jnp.zeros(())

    def dissipated(self, model, moving, memory, t):
        return jnp.zeros(())

    def supplied(self, model, moving, memory, t):
        twist = jnp.concatenate([moving.velocity[self.body], moving.angular[self.body]])
        return jnp.dot(self._wrench(moving, t), twist)

    def rotors(self, model, moving):
        return ()
