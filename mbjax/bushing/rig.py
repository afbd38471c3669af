"""Component test of a bushing without a mechanism: dynamic stiffness and loss angle over frequency and amplitude."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..array import is_concrete
from ..compilation import compiled
from .bushing import Bushing
from .curve import DEFLECTIONS

_STEPS, _SHOTS, _NEWTON = 256, 6, 5
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
    axis = np.eye(6)[k]

    def test(amplitude, frequency):
        w = 2 * jnp.pi * frequency
        h = 1 / (frequency * _STEPS)

        def motion(t):
            return (mean + amplitude * jnp.sin(w * t)) * axis, amplitude * w * jnp.cos(w * t) * axis

        def rate(t, z):
            return law.respond(*motion(t), z)[3]

        def step(z, i):
            t = i * h

            def miss(stages):
                return stages - jnp.stack([rate(t + c * h, z + h * (a @ stages)) for c, a in zip(_C, _A, strict=True)])

            def newton(stages, _):
                slope = jax.jacfwd(lambda x: miss(x.reshape(2, -1)).ravel())(stages.ravel())
                return stages - jnp.linalg.solve(slope, miss(stages).ravel()).reshape(stages.shape), None

            stages = jnp.stack([rate(t, z)] * 2)
            stages, _ = jax.lax.scan(newton, stages, None, length=_NEWTON)
            return z + 0.5 * h * jnp.sum(stages, axis=0), z

        def cycle(z):
            return jax.lax.scan(step, z, jnp.arange(_STEPS))

        z = jnp.zeros(law.internal)
        if law.internal:

            def shoot(z, _):
                off = cycle(z)[0] - z
                slope = jax.jacfwd(lambda x: cycle(x)[0] - x)(z)
                # A state without memory of its start (switched off) has a zero row: leave it where it is.
                return z - jnp.linalg.pinv(slope, rtol=1e-12) @ off, None

            z, _ = jax.lax.scan(shoot, z, None, length=_SHOTS)
            _, states = cycle(z)
        else:
            states = jnp.zeros((_STEPS, 0))
        times = jnp.arange(_STEPS) * h
        forces = jax.vmap(lambda t, z: law.respond(*motion(t), z)[0][k])(times, states)
        turning = jnp.exp(-1j * w * times) * 2j / _STEPS
        first = jnp.sum(forces * turning) / amplitude
        deflections = jax.vmap(lambda t: motion(t)[0][k])(times)
        rates = jax.vmap(lambda t: motion(t)[1][k])(times)
        return jnp.abs(first), jnp.angle(first), jnp.sum(forces * rates) * h, deflections, forces

    found = jax.vmap(lambda a: jax.vmap(lambda f: test(a, f))(frequencies))(amplitudes)
    return RigResult(frequencies, amplitudes, *found)
