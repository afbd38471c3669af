"""Experiments made ready: compiled predictions, whitened residuals and their derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from .bushing_test import BushingTest
from .errors import StudyError


def run_of(problem, experiment):
    """The run that predicts an experiment of this kind."""
    return (_Rig if isinstance(experiment, BushingTest) else _Motion)(problem, experiment)


class _Run:
    """One experiment. Kinds differ in `_prediction(u, ts)`: channels (times, channels), NaN after a failure."""

    contacts = False  # whether its motion may be chaotic

    def __init__(self, problem, experiment):
        self.problem, self.experiment = problem, experiment
        self.times = experiment.times
        self.measured = experiment.measured
        self.kept = np.isfinite(self.measured)
        for k, compared in enumerate(experiment.compared):
            if not self.kept[:, k].any():
                raise StudyError(f"Experiment `{experiment.name}`: column `{compared.column}` has no samples.")
        self._predict = mb.compiled(self._prediction)
        self._slope = mb.compiled(jax.jacfwd(lambda u, ts: (lambda p: (p, p))(self._prediction(u, ts)), has_aux=True))

    @property
    def abscissa(self):
        """What the rows are drawn over, and its name."""
        return self.times, "t [s]"

    def window(self, horizon):
        """Samples up to the horizon (times,), and the times with infinity beyond."""
        inside = self.times - self.times[0] <= horizon * (1 + 1e-12)
        inside[:2] = True
        return inside, np.where(inside, self.times, np.inf)

    def predict(self, u, horizon=np.inf):
        inside, ts = self.window(horizon)
        return inside, np.asarray(self._predict(jnp.asarray(u), jnp.asarray(ts)))

    def residual(self, u, horizon, sigmas):
        inside, model = self.predict(u, horizon)
        return self._whitened(model, inside, sigmas)

    def _whitened(self, model, inside, sigmas):
        rows = self.kept & inside[:, None]
        if not np.isfinite(model[rows]).all():
            return None
        return ((model - np.where(self.kept, self.measured, 0.0)) / sigmas)[rows]

    def slopes(self, u, horizon=np.inf):
        """Derivatives of the channels by u (times, channels, parameters)."""
        return np.asarray(self._slope(jnp.asarray(u), jnp.asarray(self.window(horizon)[1]))[0])

    def linearised(self, u, horizon, sigmas):
        inside, ts = self.window(horizon)
        slope, model = (np.asarray(x) for x in self._slope(jnp.asarray(u), jnp.asarray(ts)))
        residual = self._whitened(model, inside, sigmas)
        slope = (slope / sigmas[:, None])[self.kept & inside[:, None]]
        return None if residual is None or not np.isfinite(slope).all() else (residual, slope)

    def first_sigmas(self):
        """Given deviations; a hundredth of the signal's own where they are to be estimated."""
        spread = np.array([np.nanstd(self.measured[:, k]) or 1.0 for k in range(self.measured.shape[1])])
        given = [c.sigma for c in self.experiment.compared]
        return np.array([0.01 * s if g == "estimate" else g for g, s in zip(given, spread, strict=True)], dtype=float)

    @property
    def estimated(self):
        return np.array([c.sigma == "estimate" for c in self.experiment.compared])


class _Motion(_Run):
    """A recorded motion of the mechanism."""

    def __init__(self, problem, experiment):
        mechanism = problem.mechanism if experiment.mechanism is None else experiment.mechanism
        self.system = mb.assemble(mechanism)
        self.channels = [c.channel for c in experiment.compared]
        self.contacts = bool(self.system.structure.points)
        super().__init__(problem, experiment)
        try:
            jax.eval_shape(self._prediction, jnp.asarray(problem.space.start), jnp.asarray(self.times))
        except KeyError as error:
            raise StudyError(f"Experiment `{experiment.name}`: {error.args[0]}") from None

    def _prediction(self, u, ts):
        """Channels (times, channels); NaN after a failure, 0 beyond the last finite time."""
        problem, e = self.problem, self.experiment
        system = self.system.bind(problem.values(u))
        state = mb.initial_state(system, positions=e.positions, speeds=e.speeds, t0=ts[0])
        run = mb.simulate(system, state, ts, steps=problem.steps, solver=problem.solver, throw=False)
        wanted = jnp.isfinite(ts)

        def held(rows):
            """Rows that nobody asked for repeat the first one, so that nothing is made of NaN."""
            return jnp.where(wanted.reshape(-1, *(1,) * (rows.ndim - 1)), rows, rows[:1])

        states = jax.tree.map(held, run.states)
        quiet = mb.Trajectory(run.system, jnp.where(wanted, ts, ts[0]), states, run.result, run.statistics)
        return jnp.where(wanted[:, None], quiet[self.channels], 0.0)


class _Rig(_Run):
    """Steady cycles of one bushing of the mechanism on a component rig."""

    def __init__(self, problem, experiment):
        super().__init__(problem, experiment)
        experiment.check(problem.mechanism)

    @property
    def abscissa(self):
        return np.arange(len(self.times)), "row: amplitudes, within them frequencies, within them phases"

    def _prediction(self, u, ts):
        del ts  # the rows are cycles, not times: a horizon leaves none out
        return self.experiment.predict(self.problem.mechanism.with_values(self.problem.values(u)))
