"""Which number moves which output, when? Derivatives along the motion, ranked."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from .errors import StudyError
from .measure import events_of, labels_of


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """Outputs over time and their derivatives by parameters; the same for measures (event times, peak forces, ...).

    Beyond `horizon` (s) neither motion nor derivatives can be trusted point by point.
    """

    parameters: tuple[str, ...]
    values: np.ndarray  # (parameters,)
    ts: np.ndarray
    channels: tuple[str, ...]
    outputs: np.ndarray  # (times, channels)
    slopes: np.ndarray  # (times, channels, parameters), per unit of the parameter
    labels: tuple[str, ...]
    measures: np.ndarray  # (labels,)
    measure_slopes: np.ndarray  # (labels, parameters)
    horizon: float  # s, since the start; infinite without contacts
    remark: str

    def relative(self):
        """Change of every output per relative change of a parameter (times, channels, parameters): dy / d ln p."""
        return self.slopes * self.values

    def of(self, channel):
        """Derivatives of one channel (times, parameters)."""
        if channel not in self.channels:
            raise KeyError(f"`{channel}` is not among the outputs: {', '.join(self.channels)}.")
        return self.slopes[:, self.channels.index(channel)]

    def _trusted(self):
        return self.ts - self.ts[0] <= self.horizon

    def strength(self):
        """RMS over the trusted times of dy / d ln p, over the spread of the output there (channels, parameters): by how
        many spreads the output moves when the parameter grows by its own size."""
        inside = self._trusted()
        spread = np.std(self.outputs[inside], axis=0)
        size = np.sqrt(np.mean(self.relative()[inside] ** 2, axis=0))
        return size / np.where(spread > 0, spread, 1.0)[:, None]

    def ranking(self):
        """Parameters with the largest strength of any channel, the strongest first."""
        strength = self.strength()
        if not self.channels:
            return []
        order = np.argsort(-strength.max(axis=0))
        most = np.argmax(strength, axis=0)
        return [(self.parameters[k], self.channels[most[k]], float(strength[most[k], k])) for k in order]

    def fisher(self, sigma):
        """Fisher information of relative parameter changes in the trusted samples, with noise `sigma` per channel
        (a number, or `{channel: sigma}`)."""
        sigmas = [sigma[c] if isinstance(sigma, dict) else sigma for c in self.channels]
        rows = (self.relative()[self._trusted()] / np.array(sigmas)[None, :, None]).reshape(-1, len(self.parameters))
        return rows.T @ rows

    def __str__(self):
        width = max(len(p) for p in self.parameters)
        lines = [f"{p.ljust(width)}  {s:9.3g}  most in {c}" for p, c, s in self.ranking()]
        lines.insert(0, f"{'parameter'.ljust(width)}  strength (spreads per relative change)")
        for k, label in enumerate(self.labels):
            parts = ", ".join(
                f"{p} {s * v:.4g}" for p, s, v in zip(self.parameters, self.measure_slopes[k], self.values, strict=True)
            )
            lines.append(f"{label}: {self.measures[k]:.6g}; per relative change: {parts}")
        return "\n".join([*lines, *([self.remark] if self.remark else [])])

    def to_dict(self):
        """Plain Python, ready for JSON."""
        return {
            "parameters": list(self.parameters),
            "values": self.values.tolist(),
            "channels": list(self.channels),
            "ranking": [{"parameter": p, "channel": c, "strength": s} for p, c, s in self.ranking()],
            "measures": {
                label: {"value": float(v), "slopes": dict(zip(self.parameters, s.tolist(), strict=True))}
                for label, v, s in zip(self.labels, self.measures, self.measure_slopes, strict=True)
            },
            "horizon": float(self.horizon) if np.isfinite(self.horizon) else None,
            "remark": self.remark,
        }

    def plot(self, path):
        """A heat map of |dy / d ln p| over the spread of y, over time, one panel per channel."""
        from matplotlib.figure import Figure

        count = len(self.channels)
        figure = Figure(figsize=(9, 1.2 + count * (0.6 + 0.3 * len(self.parameters))), layout="constrained")
        axes = figure.subplots(count, 1, squeeze=False, sharex=True)[:, 0]
        spread = np.std(self.outputs, axis=0)
        for k, (ax, channel) in enumerate(zip(axes, self.channels, strict=True)):
            size = np.abs(self.relative()[:, k]) / (spread[k] or 1.0)
            top = float(np.nanmax(size)) or 1.0
            image = ax.pcolormesh(self.ts, np.arange(len(self.parameters)), size.T, shading="nearest", vmin=0, vmax=top)
            ax.set_yticks(range(len(self.parameters)), self.parameters, fontsize=8)
            ax.set_title(channel, fontsize=9)
            if np.isfinite(self.horizon) and self.horizon < self.ts[-1] - self.ts[0]:
                ax.axvline(self.ts[0] + self.horizon, color="white", linestyle="--")
            figure.colorbar(image, ax=ax, label="spreads per relative change")
        axes[-1].set_xlabel("t [s]")
        figure.savefig(path, dpi=130)


def sensitivity(
    mechanism, outputs, parameters, ts, *, measures=(), positions=None, speeds=None, solver=None, steps=None, trust=True
):
    """Derivatives of channels (`outputs`) at `ts` and of `measures` by the numbers at the paths `parameters`.

    State and all derivatives are integrated together, through contacts, with the derivatives under the tolerance too
    (`steps`, default rtol 1e-8). With `trust` the horizon is estimated where there are contacts (one more run).
    """
    outputs, parameters = list(outputs), list(parameters)
    if not parameters or not (outputs or measures):
        raise StudyError("sensitivity: give at least one parameter and one output or measure.")
    steps = mb.Adaptive(rtol=1e-8) if steps is None else steps
    values = []
    for path in parameters:
        value = np.asarray(mechanism.value(path), dtype=float)
        if value.shape:
            raise StudyError(f"sensitivity: `{path}` is an array of shape {value.shape}; name one component.")
        values.append(float(value))
    system = mb.assemble(mechanism)
    ts = np.asarray(ts, dtype=float)

    def both(x):
        bound = system.bind(dict(zip(parameters, x, strict=True)))
        state = mb.initial_state(bound, positions=positions, speeds=speeds, t0=ts[0])
        run = mb.simulate(bound, state, ts, solver=solver, steps=steps, events=events_of(measures), throw=False)
        table = run[outputs] if outputs else jnp.zeros((len(ts), 0))
        numbers = jnp.concatenate([m(run) for m in measures]) if measures else jnp.zeros(0)
        return (table, numbers), (table, numbers, run.result)

    try:
        jax.eval_shape(both, jnp.asarray(values))
    except KeyError as error:
        raise StudyError(f"sensitivity: {error.args[0]}") from None
    # Relative changes are differentiated: the tolerance of a derivative then does not depend on units.
    scale = np.where(np.array(values) != 0, np.abs(values), 1.0)
    slope_of = jax.jacfwd(lambda r: both(jnp.asarray(values) + scale * r), has_aux=True)
    slopes, (table, numbers, result) = mb.compiled(slope_of)(jnp.zeros(len(values)))
    if not bool(result.success):
        raise mb.SimulationError(f"sensitivity: the simulation stopped: {result.message}.")
    horizon, remark = np.inf, ""
    if trust and system.structure.points:
        state = mb.initial_state(system, positions=positions, speeds=speeds, t0=ts[0])
        found = mb.trust_horizon(system, state, np.linspace(ts[0], ts[-1], 201), steps=steps)
        if float(found.horizon) < ts[-1]:
            horizon = float(found.horizon) - ts[0]
        remark = str(found)
    return Sensitivity(
        tuple(parameters), np.array(values), ts, tuple(outputs), np.asarray(table), np.asarray(slopes[0]) / scale,
        labels_of(measures), np.asarray(numbers), np.asarray(slopes[1]) / scale, horizon, remark,
    )  # fmt: skip
