"""The differential equation that the solvers see: one flat vector of positions, velocities and counted energies."""

import equinox as eqx
import jax.numpy as jnp

from ..dynamics import accelerations, rates_of
from ..law import KINDS
from ..state import Account, State, flatten, position_rate, positions, rates
from ..structure import Structure


class Flow(eqx.Module):
    """dy/dt of the flat state; `args` are the model and the memory at the last accepted step."""

    structure: Structure = eqx.field(static=True)
    stabilise: eqx.Module | None

    def __call__(self, t, y, args):
        model, memory = args
        structure = self.structure
        q, v = unpack(structure, y)
        internal = internal_of(structure, y)
        solution, _, rows, applied = accelerations(structure, model, q, v, internal, memory, t, self.stabilise)
        rate = position_rate(q, v)
        parts = [flatten(rate, v)[0], rates_of(solution), applied.internal_rate]
        if structure.counts_energy:
            driven = driver_power(structure, rows, solution)
            parts.append(jnp.append(applied.dissipated, applied.supplied + driven))
        return jnp.concatenate(parts)


def driver_power(structure, rows, solution):
    """Power of the drivers: force along each driver row times the prescribed speed."""
    start, count = structure.driver_rows
    if not count:
        return jnp.zeros(())
    positions_in_solver = {int(row): k for k, row in enumerate(structure.layout.order)}
    power = jnp.zeros(())
    for row in range(start, start + count):
        if row in positions_in_solver:
            power = power + solution.multipliers[positions_in_solver[row]] * rows.velocity[row]
    return power


def sizes(structure):
    """Lengths of the position part, the velocity part, the internal states and the energy account."""
    n, k = structure.spatial, structure.planar
    return 7 * n + 3 * k, 6 * n + 3 * k, structure.internals, len(KINDS) + 1 if structure.counts_energy else 0


def pack(structure, state):
    q, v = flatten(state.q, state.v)
    parts = [q, v, state.internal]
    if structure.counts_energy:
        parts.append(jnp.append(state.account.dissipated, state.account.supplied))
    return jnp.concatenate([jnp.asarray(p, dtype=float) for p in parts])


def unpack(structure, y):
    nq, nv, *_ = sizes(structure)
    return positions(structure, y[:nq]), rates(structure, y[nq : nq + nv])


def internal_of(structure, y):
    nq, nv, ni, _ = sizes(structure)
    return y[nq + nv : nq + nv + ni]


def to_state(structure, y, memory):
    nq, nv, ni, na = sizes(structure)
    q, v = unpack(structure, y)
    account = y[nq + nv + ni :] if na else jnp.zeros(len(KINDS) + 1)
    return State(q, v, internal_of(structure, y), memory, Account(account[:-1], account[-1]))
