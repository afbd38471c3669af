"""The sum of all force elements at a state, and their energies."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import interactions
from .law import powers


class Applied(eqx.Module):
    """What acts on the bodies besides the constraints."""

    wrench: jax.Array  # (bodies, 6) force and moment at the mass centres, global axes
    sizes: jax.Array  # (bodies, 6) the same of the magnitudes of all parts: what could have balanced out
    stored: jax.Array  # () J, potential energy of gravity, springs, rotors
    dissipated: jax.Array  # (kinds,) W, in the order of `law.KINDS`
    supplied: jax.Array  # () W, by motors and applied loads
    rotor_rows: jax.Array  # (rotors, bodies, 6) direction of each rotor's joint coordinate
    rotor_inertia: jax.Array  # (rotors,) reflected inertia
    rotor_gamma: jax.Array  # (rotors,) minus the part of the coordinate's acceleration that is not J a
    internal_rate: jax.Array  # (internal,) rates of bristles and branches


def total(structure, model, moving, memory, internal, t):
    bodies = structure.bodies
    indices, wrenches = [], []
    stored = dissipated = supplied = jnp.zeros(())
    rotors = []
    for load in model.loads:
        index, wrench = load.wrenches(model, moving, memory, t)
        indices.append(np.asarray(index))
        wrenches.append(wrench)
        stored = stored + load.stored(model, moving, memory, t)
        dissipated = dissipated + load.dissipated(model, moving, memory, t)
        supplied = supplied + load.supplied(model, moving, memory, t)
        rotors.extend(load.rotors(model, moving))
    dissipated = powers(element=dissipated)
    internal_rate = jnp.zeros(0)
    if model.laws:
        acting = interactions.act(structure, model, moving, memory, internal, t)
        indices.append(interactions.body_indices(structure))
        wrenches.append(acting.wrench)
        stored, dissipated, internal_rate = stored + acting.stored, dissipated + acting.dissipated, acting.internal_rate
    if indices:
        everything = np.concatenate(indices)
        values = jnp.concatenate(wrenches)
        if np.array_equal(everything, np.arange(bodies)):
            sums, sizes = values, jnp.abs(values)
        else:
            sums, sizes = (jnp.zeros((bodies + 1, 6)).at[everything].add(x)[:bodies] for x in (values, jnp.abs(values)))
    else:
        sums = sizes = jnp.zeros((bodies, 6))
    if rotors:
        rows = jnp.stack([_on_bodies(bodies, index, row) for index, row, _, _ in rotors])
        inertia = jnp.stack([i for _, _, i, _ in rotors])
        gamma = jnp.stack([g for _, _, _, g in rotors])
    else:
        rows, inertia, gamma = jnp.zeros((0, bodies, 6)), jnp.zeros(0), jnp.zeros(0)
    return Applied(sums, sizes, stored, dissipated, supplied, rows, inertia, gamma, internal_rate)


def _on_bodies(bodies, index, rows):
    return jnp.zeros((bodies + 1, 6)).at[np.asarray(index)].add(rows)[:bodies]
