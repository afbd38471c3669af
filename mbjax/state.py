"""The state of a system, stacked per body kind, and its flat form inside the integrator."""

import equinox as eqx
import jax
import jax.numpy as jnp

from . import rotation
from .law import KINDS, Points


class Coordinates(eqx.Module):
    """Positions: mass centre and Euler parameters of spatial bodies; x, y, angle of planar ones."""

    position: jax.Array  # (spatial, 3) m, global
    orientation: jax.Array  # (spatial, 4) Euler parameters
    planar: jax.Array  # (planar, 3) m, m, rad in each body's plane


class Rates(eqx.Module):
    """Velocities: mass centre (global) and angular velocity (body axes) of spatial bodies; rates of planar ones."""

    velocity: jax.Array  # (spatial, 3) m/s
    angular: jax.Array  # (spatial, 3) rad/s, body axes
    planar: jax.Array  # (planar, 3) m/s, m/s, rad/s


class Memory(eqx.Module):
    """What connections remember from step to step, never part of the error norm."""

    spin: jax.Array  # (connections,) unwrapped spin at the last accepted step, rad
    points: Points  # of all contact points


class Account(eqx.Module):
    """Energies counted since the start: diagnostics, outside the error norm."""

    dissipated: jax.Array  # (kinds,) J, turned into heat, in the order of `law.KINDS`
    supplied: jax.Array  # () J, by drivers, motors and applied loads


def no_account():
    """Nothing counted yet."""
    return Account(jnp.zeros(len(KINDS)), jnp.zeros(()))


class State(eqx.Module):
    """Everything that evolves."""

    q: Coordinates
    v: Rates
    internal: jax.Array  # (internal,) bristles and branches, integrated along with the motion
    memory: Memory
    account: Account


def flatten(q, v):
    """One vector of all positions and one of all velocities."""
    return (
        jnp.concatenate([q.position.reshape(-1), q.orientation.reshape(-1), q.planar.reshape(-1)]),
        jnp.concatenate([v.velocity.reshape(-1), v.angular.reshape(-1), v.planar.reshape(-1)]),
    )


def positions(structure, flat):
    n, k = structure.spatial, structure.planar
    return Coordinates(
        flat[: 3 * n].reshape(n, 3), flat[3 * n : 7 * n].reshape(n, 4), flat[7 * n : 7 * n + 3 * k].reshape(k, 3)
    )


def rates(structure, flat):
    n, k = structure.spatial, structure.planar
    return Rates(
        flat[: 3 * n].reshape(n, 3), flat[3 * n : 6 * n].reshape(n, 3), flat[6 * n : 6 * n + 3 * k].reshape(k, 3)
    )


def position_rate(q, v):
    """q_dot of velocities v."""
    return Coordinates(v.velocity, rotation.parameter_rate(q.orientation, v.angular), v.planar)


def displace(q, step):
    """Positions after a small displacement given like velocities."""
    return Coordinates(q.position + step.velocity, rotation.turn(q.orientation, step.angular), q.planar + step.planar)


def spoiled(bad, state):
    """A state with NaN in every number if `bad`: a failure that cannot be overlooked."""
    return jax.tree.map(lambda x: jnp.where(bad, jnp.nan, x) if jnp.issubdtype(x.dtype, jnp.inexact) else x, state)
