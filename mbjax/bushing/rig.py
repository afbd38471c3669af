"""Component test of a bushing without a mechanism: dynamic stiffness and loss angle over frequency and amplitude."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete
from ..compilation import compiled
from .bushing import Bushing
from .curve import DEFLECTIONS

_STEPS, _SHOTS, _NEWTON = 256, 6, 4
_CLOSED = 1e-7  # of the largest state: how well a cycle must close
_C = np.array([0.5 - np.sqrt(3) / 6, 0.5 + np.sqrt(3) / 6])
_A = np.array([[0.25, 0.25 - np.sqrt(3) / 6], [0.25 + np.sqrt(3) / 6, 0.25]])


class RigResult(eqx.Module):
    """First-harmonic results, with axes (amplitudes, frequencies)."""

    frequency: jax.Array  # (frequencies,) Hz
    amplitude: jax.Array  # (amplitudes,) m or rad
    dynamic_stiffness: jax.Array  # N/m or N m/rad, |F1 / u1|
    loss_angle: jax.Array  # rad, by which the force leads the deflection
    energy_per_cycle: jax.Array  # J, area of the loop
    deflection: jax.Array  # (amplitudes, frequencies, samples) m or rad, one cycle
    force: jax.Array  # (amplitudes, frequencies, samples) N or N m


def bushing_rig(bushing, deflection, amplitudes, frequencies, *, mean=0.0):
    """Move one deflection (`h`, `t`, `b`, `turn_h`, ...) of a bushing as mean + amplitude sin(2 pi f t).

    The steady cycle is found directly (Newton on the internal states at its start; no waiting for transients), with
    Gauss' implicit method of order 4 in 256 steps, so relaxation times far from the period do no harm.
    Differentiable.
    """
    if not isinstance(bushing, Bushing):
        raise ValueError(f"bushing_rig: {bushing!r} is not a Bushing.")
    if deflection not in DEFLECTIONS:
        raise ValueError(f"bushing_rig: `{deflection}` is not a deflection. Known: {', '.join(DEFLECTIONS)}.")
    amplitudes, frequencies = (jnp.atleast_1d(jnp.asarray(x, dtype=float)) for x in (amplitudes, frequencies))
    if is_concrete(amplitudes, frequencies) and not ((amplitudes > 0).all() and (frequencies > 0).all()):
        raise ValueError("bushing_rig: amplitudes and frequencies must be positive.")
    (law,) = bushing.laws()
    k = DEFLECTIONS.index(deflection)
    return _rig(jax.tree.map(jnp.asarray, law), k, amplitudes, frequencies, jnp.asarray(mean, dtype=float))


@compiled
def _rig(law, k, amplitudes, frequencies, mean):
    shape = (amplitudes.shape[0], frequencies.shape[0])
    amplitude, frequency = (x.ravel() for x in jnp.broadcast_arrays(amplitudes[:, None], frequencies[None, :]))
    axis = np.eye(6)[k]

    def respond(phase, z):
        """The law's answers in all tests at once, `phase` in cycles."""
        u, rate = _motion(phase, amplitude, frequency, mean)
        return jax.vmap(law.respond)(u[:, None] * axis, rate[:, None] * axis, z)

    z = _steady(lambda phase, z: respond(phase, z)[3], 1 / (frequency[:, None] * _STEPS), law.internal)
    phases = jnp.arange(_STEPS) / _STEPS
    forces = jax.vmap(lambda phase, z: respond(phase, z)[0][:, k])(phases, z).T
    deflections, rates = jax.vmap(lambda phase: _motion(phase, amplitude, frequency, mean), out_axes=1)(phases)
    first = (forces @ (jnp.exp(-2j * jnp.pi * phases) * 2j / _STEPS)) / amplitude
    work = jnp.sum(forces * rates, axis=1) / (frequency * _STEPS)
    found = (jnp.abs(first), jnp.angle(first), work, deflections, forces)
    return RigResult(frequencies, amplitudes, *(x.reshape(*shape, *x.shape[1:]) for x in found))


def _motion(phase, amplitude, frequency, mean):
    """Deflection and its rate."""
    turn = 2 * jnp.pi * phase
    return mean + amplitude * jnp.sin(turn), 2 * jnp.pi * frequency * amplitude * jnp.cos(turn)


def _steady(rate, h, internal):
    """Internal states (steps, tests, internal) along the steady cycle; NaN where none was found.

    The rate of a state depends on no other state (`AbstractBranch` asks for it), so both Newton methods, on the stages
    of a step and on the start of the cycle, are divisions. They run without derivatives; two more rounds with the
    slope held then give first and second derivatives.
    """
    if not internal:
        return jnp.zeros((_STEPS, h.shape[0], 0))

    def step(z, i, h):
        def miss(stages):
            at = z + h * jnp.tensordot(_A, stages, 1)
            rates, slopes = jax.jvp(lambda at: _at_stages(rate, i, at), (at,), (jnp.ones_like(at),))
            return stages - rates, slopes

        def newton(stages, _):
            off, d = miss(stages)
            return stages - _divided(off, h * d), None

        stages = jnp.broadcast_to(jnp.zeros_like(z), (2, *z.shape))
        stages, _ = jax.lax.scan(newton, stages, None, length=_NEWTON)
        return stages

    def advance(z, i):
        quiet = jax.lax.stop_gradient
        stages = quiet(step(quiet(z), i, quiet(h)))
        d = None
        for _ in range(2):
            at = z + h * jnp.tensordot(_A, stages, 1)
            if d is None:
                _, d = jax.jvp(lambda at: _at_stages(rate, i, at), (quiet(at),), (jnp.ones_like(at),))
                d = quiet(h * d)
            stages = stages - _divided(stages - _at_stages(rate, i, at), d)
        return z + 0.5 * h * jnp.sum(stages, axis=0), z

    def cycle(z):
        return jax.lax.scan(advance, z, jnp.arange(_STEPS))

    def shoot(z, _):
        end, slope = jax.jvp(lambda x: cycle(x)[0], (z,), (jnp.ones_like(z),))
        return jax.lax.stop_gradient((z - _shift(end - z, slope), slope))

    z = jnp.zeros((h.shape[0], internal))
    z, slopes = jax.lax.scan(shoot, z, None, length=_SHOTS)
    for _ in range(2):
        end, states = cycle(z)
        z = z - _shift(end - z, slopes[-1])
    end, states = cycle(z)
    closed = jnp.abs(end - z) <= _CLOSED * jnp.max(jnp.abs(states), axis=0) + 1e-300
    return jnp.where(closed, states, jnp.nan)


def _at_stages(rate, i, at):
    return jnp.stack([rate((i + c) / _STEPS, x) for c, x in zip(_C, at, strict=True)])


def _divided(off, d):
    """The 2 by 2 systems (1 - A d) x = off of the two stages, in closed form."""
    a, b, c, e = 1 - _A[0, 0] * d[0], -_A[0, 1] * d[1], -_A[1, 0] * d[0], 1 - _A[1, 1] * d[1]
    return jnp.stack([e * off[0] - b * off[1], a * off[1] - c * off[0]]) / (a * e - b * c)


def _shift(off, slope):
    """Newton's step of the start. A state that keeps what it starts with (switched off) stays where it is."""
    free = jnp.abs(slope - 1) > 1e-12
    return jnp.where(free, off / jnp.where(free, slope - 1, 1.0), 0.0)
