"""A fit stated: mechanism, parameters, experiments. It answers predictions, whitened residuals and their Jacobian."""

import copy
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from .errors import StudyError
from .link import links_of
from .loss import check_loss, softened
from .parameter import Space
from .run import runs_of
from .sensor.base import sensor_value, with_sensor_value

START = "start"  # paths of what an experiment holds at its start


def _held(starts, path):
    """A start value of one experiment; 0 where it holds none."""
    kind, _, coordinate = path.removeprefix(f"{START}.").partition(".")
    return (starts or {}).get(kind, {}).get(coordinate, 0.0)


class Problem:
    """What is to be fitted to what.

    `steps` is the integration's tolerance (default rtol 1e-8: noise of the integrator must stay below that of the
    data). `sensors` are what the rig measures with, by name: a `Compared` or a parameter's path may refer to them.
    `loss` is one of scipy's (`soft_l1`, `huber`, `cauchy`, `arctan`), robust from `loss_scale` deviations on.
    Everything a fitter needs: `residuals(u, horizon)` and `linearised(u, horizon)`, in the space `u` of the fit
    (logarithms, or values over the size of their start); a horizon (s after each start) leaves later samples out.
    """

    def __init__(
        self,
        mechanism,
        parameters,
        experiments,
        *,
        steps=None,
        solver=None,
        sensors=None,
        loss="linear",
        loss_scale=1.0,
    ):
        self.mechanism = mechanism
        self.sensors = dict(sensors or {})
        check_loss(loss, loss_scale)
        self.loss, self.loss_scale = loss, loss_scale
        self.parameters = tuple(parameters)
        self.experiments = tuple(experiments)
        self.steps = mb.Adaptive(rtol=1e-8) if steps is None else steps
        self.solver = solver
        self.names = tuple(p.name for p in self.parameters)
        self._check_names()
        self.starts = [self._start_of(p) for p in self.parameters]
        self.space = Space(self.parameters, self.starts)
        self.runs = runs_of(self, self.experiments)
        self.sigmas = [run.first_sigmas() for run in self.runs]
        self.links = links_of(self.experiments, self.runs)

    def _check_names(self):
        if not self.parameters:
            raise StudyError("Problem: nothing is to be fitted; give at least one parameter.")
        if not self.experiments:
            raise StudyError("Problem: there is nothing to fit to; give at least one experiment.")
        if all(e.validation for e in self.experiments):
            raise StudyError("Problem: there is nothing to fit to; all experiments are for validation.")
        for name in self.sensors:
            if any(part.name == name for part in self.mechanism.parts):
                raise StudyError(f"Problem: a sensor and a part of the mechanism are both called `{name}`.")
        for what, names in (("parameter", self.names), ("experiment", tuple(e.name for e in self.experiments))):
            twice = [n for k, n in enumerate(names) if n in names[:k]]
            if twice:
                raise StudyError(f"Problem: two {what}s are called `{twice[0]}`.")
        owner, known = {}, [e.name for e in self.experiments]
        for p in self.parameters:
            for name in p.experiments or ():
                if name not in known:
                    raise StudyError(
                        f"Parameter `{p.name}`: there is no experiment `{name}`. Known: {', '.join(known)}."
                    )
            for path in p.paths:
                for e in filter(p.felt_in, (e.name for e in self.experiments)):
                    if (path, e) in owner:
                        raise StudyError(f"Parameters `{owner[path, e]}` and `{p.name}` both set `{path}`.")
                    owner[path, e] = p.name

    def _start_of(self, parameter):
        value = np.asarray(self._value(parameter.paths[0]))
        for path in parameter.paths:
            shape = np.shape(self._value(path))
            if shape:
                raise StudyError(
                    f"Parameter `{parameter.name}`: `{path}` is an array of shape {shape}; name one component, such as "
                    f"`{path}{'.0' * len(shape)}`."
                )
        start = float(value) if parameter.start is None else parameter.start
        parameter.check_start(start)
        return start

    def felt_in(self, experiment=None):
        """Which parameters an experiment feels (parameters,); by default those that all of them share."""
        return np.array([p.felt_in(experiment) for p in self.parameters])

    def _value(self, path, mechanism=None):
        """A number of the mechanism or of a sensor."""
        name, _, field = path.partition(".")
        if name in self.sensors:
            return sensor_value(self.sensors[name], name, field)
        if name == START:
            return np.array(self._first_start(path))
        return (self.mechanism if mechanism is None else mechanism).value(path)

    def _first_start(self, path):
        """What the first experiment that feels a start value holds there."""
        kind, _, coordinate = path.removeprefix(f"{START}.").partition(".")
        if kind not in ("positions", "speeds") or not coordinate:
            raise StudyError(f"`{path}`: a start value is `{START}.positions.pin.spin` or `{START}.speeds.pin.spin`.")
        for e in self.experiments:
            known = getattr(e, kind, None) or {}
            if coordinate in known and any(path in p.paths and p.felt_in(e.name) for p in self.parameters):
                return known[coordinate]
        raise StudyError(
            f"`{path}`: no experiment that feels it has `{coordinate}` among its {kind}, as a first guess."
        )

    def with_values(self, mechanism, u, felt, starts=None):
        """`mechanism`, the sensors and the `starts` with the values at `u` of those parameters that are `felt`.

        `starts` are the positions and speeds that an experiment holds at its start. Traceable.
        """
        outward, found = self.space.outward(u), {}
        for k, p in enumerate(self.parameters):
            for path in p.paths:
                before = found.get(
                    path, _held(starts, path) if path.startswith(f"{START}.") else self._value(path, mechanism)
                )
                found[path] = outward[k] if p.experiments is None else jnp.where(felt[k], outward[k], before)
        sensors = dict(self.sensors)
        for path in [p for p in found if p.partition(".")[0] in sensors]:
            name, _, field = path.partition(".")
            sensors[name] = with_sensor_value(sensors[name], field, found.pop(path))
        starts = {kind: dict(held) for kind, held in (starts or {}).items()}
        for path in [p for p in found if p.startswith(f"{START}.")]:
            kind, _, coordinate = path.removeprefix(f"{START}.").partition(".")
            value = found.pop(path)
            if coordinate in starts.get(kind, {}):
                starts[kind][coordinate] = value
        return mechanism.with_values(found), sensors, starts

    def fitted_mechanism(self, u, experiment=None):
        """The mechanism with the values at `u`, those of one experiment alone only if it is named."""
        mechanism, *_ = self.with_values(self.mechanism, np.asarray(u, dtype=float), self.felt_in(experiment))
        return jax.tree.map(np.asarray, mechanism)

    def digests(self):
        """What tells these data from others."""
        return [e.digest for e in self.experiments]

    def take_sigmas(self, channels):
        """The noise that a fit's result lists by channel."""
        rows = iter(channels)
        self.sigmas = [np.array([float(next(rows)["sigma"]) for _ in e.compared]) for e in self.experiments]

    @property
    def longest(self):
        """s, length of the longest experiment."""
        return max(float(run.times[-1] - run.times[0]) for run in self.runs)

    def held_out(self, names):
        """The same problem with those experiments for validation and all others fitted; nothing is compiled anew."""
        other = copy.copy(self)
        other.experiments = tuple(dataclasses.replace(e, validation=e.name in names) for e in self.experiments)
        other.sigmas = list(self.sigmas)
        return other

    def with_recordings(self, recordings):
        """The same problem with other recordings `{experiment: Recording}` at the same times: a rig's repeats, or noise
        drawn anew. Nothing is compiled anew."""
        other = copy.copy(self)
        known = [e.name for e in self.experiments]
        for name, recording in recordings.items():
            if name not in known:
                raise StudyError(f"with_recordings: there is no experiment `{name}`. Known: {', '.join(known)}.")
            e = self.experiments[known.index(name)]
            if e.inputs or not np.array_equal(recording.times, e.recording.times):
                raise StudyError(
                    f"with_recordings: `{name}` has measured inputs or other times; build a `Problem` of its own."
                )
        other.experiments = tuple(
            dataclasses.replace(e, recording=recordings[e.name]) if e.name in recordings else e
            for e in self.experiments
        )
        other.space = copy.deepcopy(self.space)
        other.runs = [run.seeing(e) for run, e in zip(self.runs, other.experiments, strict=True)]
        other.sigmas = [run.first_sigmas() for run in other.runs]
        return other

    def holding(self, values):
        """The same problem with parameters held at `{name: value}`; nothing is compiled anew."""
        other = copy.copy(self)
        other.space = copy.deepcopy(self.space)
        for name, value in values.items():
            k = self.names.index(name)
            u = self.space.inward(np.where(np.arange(len(self.names)) == k, value, 1.0))[k]
            other.space.start[k] = other.space.lower[k] = other.space.upper[k] = u
        return other

    def training(self):
        return [k for k, e in enumerate(self.experiments) if not e.validation]

    def residuals(self, u, horizon=np.inf):
        """Whitened residuals, or None where a simulation failed."""
        parts = []
        for k in self.training():
            part = self.runs[k].residual(u, horizon, self.sigmas[k])
            if part is None:
                return None
            parts.append(softened(self.loss, self.loss_scale, part)[0])
        parts.extend(link.residual(u, horizon) for link in self.links)
        return np.concatenate([*parts, self.prior_residual(u)])

    def costs(self, us, horizon=np.inf):
        """Costs (points,) of many points (points, parameters), simulated side by side; infinite after a failure.
        Continuity of segments does not count."""
        costs = np.array([0.5 * float(np.sum(self.prior_residual(u) ** 2)) for u in us])
        for k in self.training():
            for i, part in enumerate(self.runs[k].residuals_of(us, horizon, self.sigmas[k])):
                soft = np.inf if part is None else softened(self.loss, self.loss_scale, part)[0]
                costs[i] += 0.5 * np.sum(np.square(soft))
        return costs

    def look_ahead(self, points):
        """Simulate `{(what, horizon): points (points, parameters)}` in a batch each; `residuals` or `linearised`
        (`what`) then find the answers known."""
        for owner in dict.fromkeys(self.runs[k].owner for k in self.training()):
            owner.answers.forget_slopes()
            for (what, horizon), us in points.items():
                owner.look_ahead(what, us, horizon)

    def deviance(self, chisqr, horizon):
        """-2 log likelihood: with an estimated noise, chi-square alone is the number of samples for every model."""
        for k in self.training():
            rows = self.runs[k].kept & self.runs[k].window(horizon)[0][:, None]
            chisqr += float(np.sum(rows.sum(axis=0) * np.log(2 * np.pi * np.square(self.sigmas[k]))))
        return float(chisqr)

    def with_sigmas(self, sigmas):
        """The same problem with other noise; nothing is compiled anew."""
        other = copy.copy(self)
        other.sigmas = [np.array(s) for s in sigmas]
        return other

    def linearised(self, u, horizon=np.inf):
        """Whitened residuals and their Jacobian by u, or None where a simulation or its derivative failed."""
        parts, slopes = [], []
        for k in self.training():
            found = self.runs[k].linearised(u, horizon, self.sigmas[k])
            if found is None:
                return None
            part, slope = softened(self.loss, self.loss_scale, *found)
            parts.append(part)
            slopes.append(slope)
        for link in self.links:
            part, slope = link.linearised(u, horizon)
            parts.append(part)
            slopes.append(slope)
        return np.concatenate([*parts, self.prior_residual(u)]), np.concatenate([*slopes, self._prior_slope()])

    def prior_residual(self, u):
        """Whitened distances from the priors; of NumPy or traced u."""
        given = [(k, p.prior) for k, p in enumerate(self.parameters) if p.prior is not None]
        which = np.array([k for k, _ in given], dtype=int)
        means = np.array([np.log(m) if self.space.log[k] else m for k, (m, _) in given])
        unit = np.where(self.space.log, 1.0, self.space.unit)[which]
        return (u[which] * unit - means) / np.array([s for _, (_, s) in given])

    def _prior_slope(self):
        given = [(k, p.prior) for k, p in enumerate(self.parameters) if p.prior is not None]
        unit = np.where(self.space.log, 1.0, self.space.unit)
        rows = np.zeros((len(given), len(self.names)))
        for row, (k, (_, s)) in zip(rows, given, strict=True):
            row[k] = unit[k] / s
        return rows
