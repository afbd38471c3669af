"""Experiments made ready: compiled predictions, whitened residuals and their derivatives."""

import copy

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb
from mbjax import lanes

from .answers import Answers
from .bushing_test import BushingTest, columns
from .errors import StudyError
from .feature_test import FeatureTest
from .frequency_test import FrequencyTest
from .link import watched
from .measure import events_of


def runs_of(problem, experiments):
    """Runs that predict the experiments. Motions whose mechanisms differ in numbers only share one compilation."""
    runs, groups = [], {}
    room = max(len(e.times) for e in experiments)
    more = watched(experiments)
    for experiment in experiments:
        if isinstance(experiment, BushingTest):
            runs.append(_Rig(problem, experiment))
            continue
        if isinstance(experiment, FeatureTest):
            runs.append(_Features(problem, experiment))
            continue
        if isinstance(experiment, FrequencyTest):
            runs.append(_Frequencies(problem, experiment))
            continue
        mechanism = experiment.prepared(problem.mechanism, room)
        leaves, tree = jax.tree.flatten((mechanism, experiment.positions or {}, experiment.speeds or {}))
        channels = (*(c.channel for c in experiment.compared), *more)
        group = groups.setdefault((tree, tuple(np.shape(x) for x in leaves), channels), [])
        group.append(_Motion(problem, experiment, mechanism, channels, group[0] if group else None))
        runs.append(group[-1])
    for members in groups.values():
        if len(members) > 1:
            _Group(members)
    return runs


class _Run:
    """One experiment. Kinds differ in `prediction(u, ts)`: channels (times, channels), NaN after a failure."""

    contacts = False  # whether its motion may be chaotic

    def __init__(self, problem, experiment):
        self.problem = problem
        self.felt = problem.felt_in(experiment.name)
        self.times = experiment.times
        self._take(experiment)
        self.answers = Answers(self.prediction, jax.jacfwd(self.prediction))

    @property
    def owner(self):
        """Who simulates: this run, or the group it belongs to."""
        return self

    def look_ahead(self, what, us, horizon):
        """Simulate points in one batch, and remember the answers."""
        self.answers.look_ahead(what, us, horizon, self.window(horizon)[1])

    def _take(self, experiment):
        self.experiment = experiment
        self.measured = experiment.measured
        self.kept = np.isfinite(self.measured)
        for k, compared in enumerate(experiment.compared):
            if not self.kept[:, k].any():
                raise StudyError(f"Experiment `{experiment.name}`: column `{compared.column}` has no samples.")

    def _traced(self):
        """Trace the prediction, for names that do not exist."""
        try:
            jax.eval_shape(self.prediction, jnp.asarray(self.problem.space.start), jnp.asarray(self.times))
        except (KeyError, mb.ModelError) as error:
            raise StudyError(f"Experiment `{self.experiment.name}`: {error.args[0]}") from None

    def seeing(self, experiment):
        """The same run, compared with other samples at the same times."""
        other = copy.copy(self)
        other._take(experiment)
        return other

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
        return self.window(horizon)[0], self.values_at(u, horizon)[:, : self.measured.shape[1]]

    def values_at(self, u, horizon):
        """Channels (times, channels), those compared first."""
        return self.answers.value(u, horizon, self.window(horizon)[1])

    def slopes_at(self, u, horizon):
        """Derivatives of the channels by u (times, channels, parameters)."""
        return self.answers.slope(u, horizon, self.window(horizon)[1])

    def values_of(self, us, horizon):
        """Channels (points, times, channels) at many points at once."""
        together = mb.compiled(lambda us, ts: jax.vmap(lambda u: self.prediction(u, ts))(us))
        return np.asarray(together(jnp.asarray(us), jnp.asarray(self.window(horizon)[1])))

    def residuals_of(self, us, horizon, sigmas):
        """Whitened residuals of many points; None where a simulation failed."""
        inside, _ = self.window(horizon)
        table = self.values_of(us, horizon)[..., : self.measured.shape[1]]
        return [self._whitened(model, inside, sigmas) for model in table]

    def residual(self, u, horizon, sigmas):
        inside, model = self.predict(u, horizon)
        return self._whitened(model, inside, sigmas)

    def _whitened(self, model, inside, sigmas):
        rows = self.kept & inside[:, None]
        if not np.isfinite(model[rows]).all():
            return None
        return ((model - np.where(self.kept, self.measured, 0.0)) / sigmas)[rows]

    def linearised(self, u, horizon, sigmas):
        inside, model = self.predict(u, horizon)
        residual = self._whitened(model, inside, sigmas)
        if residual is None:
            return None
        slope = self.slopes_at(u, horizon)[:, : self.measured.shape[1]]
        slope = (slope / sigmas[:, None])[self.kept & inside[:, None]]
        return (residual, slope) if np.isfinite(slope).all() else None

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

    def __init__(self, problem, experiment, mechanism, channels, alike):
        super().__init__(problem, experiment)
        self.mechanism = mechanism
        self.system = mb.assemble(mechanism) if alike is None else alike.system  # for its structure alone
        self.channels = channels  # those compared first, then those that continuity watches
        self.contacts = bool(self.system.structure.points)
        self.group, self.place = None, None
        self._together = mb.compiled(self.side_by_side)
        if alike is None:
            self._traced()

    @property
    def owner(self):
        return self if self.group is None else self.group

    def start(self, u):
        """System and initial state at u."""
        return self._start(jnp.asarray(u), self.times[0], self.numbers)[:2]

    def _start(self, u, t0, numbers):
        mechanism, positions, speeds, felt = numbers
        held = {"positions": positions, "speeds": speeds}
        mechanism, sensors, held = self.problem.with_values(mechanism, u, felt, held)
        system = self.system.bind(mechanism)
        return system, mb.initial_state(system, **held, t0=t0), sensors

    @property
    def numbers(self):
        """What sets this run apart from others of its group."""
        e = self.experiment
        return self.mechanism, e.positions or {}, e.speeds or {}, self.felt

    def prediction(self, u, ts):
        return self.predicted(u, ts, self.numbers)

    def predicted(self, u, ts, numbers):
        """Channels (times, channels) with the numbers of this run or of another one of its group."""
        return self._moved(*self._start(u, ts[0], numbers), ts)

    def side_by_side(self, us, ts, numbers):
        """`predicted` at many points (points, parameters), in lanes; the starts one by one, which compiles quickly."""

        def moved(u, state):
            system, _, sensors = self._start(u, ts[0], numbers)
            return self._moved(system, state, sensors, ts)

        states = jax.lax.map(lambda u: self._start(u, ts[0], numbers)[1], us)
        laned = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), (us, states))
        return jnp.moveaxis(lanes.mapped(moved, us.shape[0], *laned), -1, 0)

    def values_of(self, us, horizon):
        alike = self if self.group is None else self.group.members[0]
        ts = self.window(horizon)[1]
        ts = np.concatenate([ts, np.full((ts.size if self.group is None else self.group.longest) - ts.size, np.inf)])
        found = alike._together(jnp.asarray(us), jnp.asarray(ts), self.numbers)
        return np.asarray(found)[:, : self.times.size]

    def _moved(self, system, state, sensors, ts):
        steps, solver = self.problem.steps, self.problem.solver
        run = mb.simulate(system, state, ts, steps=steps, solver=solver, throw=False)
        wanted = jnp.isfinite(ts)
        last = jnp.sum(wanted) - 1
        place = jnp.minimum(jnp.arange(ts.shape[0]), last)  # rows that nobody asked for repeat the last one
        states = jax.tree.map(lambda rows: rows[place], run.states)
        quiet = mb.Trajectory(run.system, ts[place], states, run.result, run.statistics)
        return jnp.where(wanted[:, None], self._readings(quiet, sensors), 0.0)

    def _readings(self, trajectory, sensors):
        """What is compared (times, channels): channels as they are, or as a sensor sees them."""
        needed = [(n, sensors[n].channels() if n in sensors else (n,)) for n in self.channels]
        names = list(dict.fromkeys(c for _, group in needed for c in group))
        table = trajectory[names]
        columns = []
        for name, group in needed:
            values = table[:, [names.index(c) for c in group]]
            columns.append(sensors[name].read(trajectory.ts, values) if name in sensors else values[:, 0])
        return jnp.stack(columns, axis=-1)

    def values_at(self, u, horizon):
        return super().values_at(u, horizon) if self.group is None else self.group.values_at(self.place, u, horizon)

    def slopes_at(self, u, horizon):
        return super().slopes_at(u, horizon) if self.group is None else self.group.slopes_at(self.place, u, horizon)


class _Group:
    """Motions that share one compilation and one answer."""

    def __init__(self, members):
        self.members = members
        self.longest = max(run.times.size for run in members)
        self.numbers = jax.tree.map(lambda *x: jnp.stack([jnp.asarray(v) for v in x]), *(m.numbers for m in members))
        for place, run in enumerate(members):
            run.group, run.place = self, place

        def all_of(u, ts, numbers):
            return jax.lax.map(lambda x: members[0].predicted(u, *x), (ts, numbers))

        felt = np.stack([m.felt for m in members])
        # Each lane differentiates by what it feels (the longest list of all lanes), which may be far from everything.
        self.own = np.argsort(~felt, axis=1, kind="stable")[:, : felt.sum(axis=1).max()]

        def slope(own, u, t, n):
            return jax.jacfwd(lambda x: members[0].predicted(u.at[own].set(x), t, n))(u[own])

        def slopes_of(u, ts, numbers):
            # One run after the other: none waits for a longer one, and each integrates all its tangents together.
            return jax.lax.map(lambda x: slope(x[0], u, *x[1:]), (jnp.asarray(self.own), ts, numbers))

        self.answers = Answers(all_of, slopes_of)

    def look_ahead(self, what, us, horizon):
        self.answers.look_ahead(what, us, horizon, *self._given(horizon))

    def _given(self, horizon):
        rows = [m.window(horizon)[1] for m in self.members]
        return np.stack([np.concatenate([t, np.full(self.longest - t.size, np.inf)]) for t in rows]), self.numbers

    def values_at(self, place, u, horizon):
        return self.answers.value(u, horizon, *self._given(horizon))[place, : self.members[place].times.size]

    def slopes_at(self, place, u, horizon):
        slope = self.answers.slope(u, horizon, *self._given(horizon))[place, : self.members[place].times.size]
        full = np.zeros((*slope.shape[:-1], u.size))
        full[..., self.own[place]] = slope
        return full


class _Rig(_Run):
    """Steady cycles of one bushing of the mechanism on a component rig."""

    def __init__(self, problem, experiment):
        super().__init__(problem, experiment)
        experiment.check(problem.mechanism)

    @property
    def abscissa(self):
        return np.arange(len(self.times)), "row: amplitudes, within them frequencies, within them phases"

    def prediction(self, u, ts):
        del ts  # the rows are cycles, not times: a horizon leaves none out
        return self.experiment.predict(self.problem.with_values(self.problem.mechanism, u, self.felt)[0])


class _Frequencies(_Run):
    """A frequency response about the rest of the mechanism."""

    def __init__(self, problem, experiment):
        super().__init__(problem, experiment)
        self.mechanism = problem.mechanism if experiment.mechanism is None else experiment.mechanism
        self.system = mb.assemble(self.mechanism)
        self._traced()

    @property
    def abscissa(self):
        return self.experiment.frequencies, "frequency [Hz]"

    def prediction(self, u, ts):
        del ts
        held = {"positions": self.experiment.positions or {}}
        mechanism, _, held = self.problem.with_values(self.mechanism, u, self.felt, held)
        return self.experiment.predict(self.system.bind(mechanism), held["positions"])


class _Features(_Run):
    """Features of a motion; a horizon leaves none out."""

    def __init__(self, problem, experiment):
        super().__init__(problem, experiment)
        mechanism = problem.mechanism if experiment.mechanism is None else experiment.mechanism
        self.mechanism, self.system = mechanism, mb.assemble(mechanism)
        self.measures = [f.measure for f in experiment.features]
        if events_of(self.measures) and not self.system.structure.points:
            raise StudyError(f"Experiment `{experiment.name}`: features of contacts, but nothing can touch.")
        self._traced()

    @property
    def abscissa(self):
        return np.arange(len(self.times)), "number"

    def prediction(self, u, ts):
        del ts
        e = self.experiment
        held = {"positions": e.positions or {}, "speeds": e.speeds or {}}
        mechanism, _, held = self.problem.with_values(self.mechanism, u, self.felt, held)
        system = self.system.bind(mechanism)
        state = mb.initial_state(system, **held, t0=e.ts[0])
        run = mb.simulate(
            system, state, e.ts, steps=self.problem.steps, solver=self.problem.solver, throw=False,
            events=events_of(self.measures),
        )  # fmt: skip
        good = jnp.where(run.result.success, 1.0, jnp.nan)
        return columns([good * m(run) for m in self.measures], 0.0, jnp)
