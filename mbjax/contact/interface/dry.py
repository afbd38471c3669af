import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...law import OPEN, Effect, point_forces, powers
from ..friction import AbstractFriction, Frictionless
from ..normal import AbstractNormal
from ..pair.base import contact
from .base import AbstractInterface


class Dry(AbstractInterface):
    """Dry contact: a normal law and a friction law at every contact point, each with its own mode and memory."""

    normal: AbstractNormal
    friction: AbstractFriction = eqx.field(default_factory=Frictionless)

    @property
    def layers(self):
        return self.normal.layers

    @property
    def bristles(self):
        return self.friction.bristles

    @property
    def returns(self):
        return self.normal.returns

    @property
    def jumps(self):
        # A bristle starts to bend at touch, which is a jump of its rate.
        return self.normal.jumps or self.friction.jumps or self.friction.bristles > 0

    @property
    def silent(self):
        return True

    def corner_speeds(self):
        return self.friction.corner_speeds()

    def remarks(self, pair):
        del pair
        return ()

    def offsets(self):
        return self.normal.offsets()

    def act(self, pair, relative, points, internal):
        touch = contact(pair, relative)
        press = self.normal.press(touch.depth, touch.rate, points)
        return self.effect(touch, press, points, internal)

    def effect(self, touch, press, points, internal, share=1.0):
        """The `Effect` of contacts under the normal forces `press`, with a `share` of all forces acting."""
        corners = len(self.corner_speeds())
        sides = () if not corners or points.pace is None else (points.pace[0][:, None] > np.arange(corners),)
        tangential, bristle_rate = self.friction(touch.slip, jnp.abs(press.force), internal, *sides)
        closed = points.mode[0] != OPEN
        tangential = jnp.where(closed[:, None], tangential, 0.0)
        if self.friction.bristles:
            # Carried along as the tangent plane turns; at rest while the contact is open.
            drift = jnp.sum(internal * touch.normal_rate, axis=-1, keepdims=True)
            bristle_rate = jnp.where(closed[:, None], bristle_rate - drift * touch.normal, 0.0)
        force = share * (tangential - press.force[:, None] * touch.normal)
        lost = jnp.sum((share * press.force - press.elastic) * touch.rate)
        rubbed = -share * jnp.sum(tangential * touch.slip)
        return Effect(
            *point_forces(force, touch.arm_bearing, touch.arm_journal),
            jnp.sum(press.stored),
            powers(contact=lost, friction=rubbed),
            bristle_rate,
            share * press.force,
        )
