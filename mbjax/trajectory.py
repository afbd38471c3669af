"""A simulated motion: times, states, result; everything else is read off by channel name."""

import csv
import json
import pathlib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .events import Events
from .files import Atomic
from .observe import channels, find_channel, snapshots
from .state import State
from .stepping.log import Log
from .stepping.progress import MESSAGES, SUCCESS
from .system import System


class Statistics(eqx.Module):
    """What the integration cost."""

    accepted: jax.Array
    rejected: jax.Array
    evaluations: jax.Array  # steps times stages, rejected ones included; Newton iterations and Jacobians are not

    @property
    def steps(self):
        return self.accepted + self.rejected


class Result(eqx.Module):
    """How the integration ended."""

    code: jax.Array  # 0 is success; see `mbjax.stepping.progress.MESSAGES`
    time: jax.Array  # s, the last time that was reached

    @property
    def success(self):
        return self.code == SUCCESS

    @property
    def message(self):
        text = MESSAGES[int(self.code)]
        return text if self.code == SUCCESS else f"{text}, at t = {float(self.time):.9g} s"


class Trajectory(eqx.Module):
    """States at the output times. Rows after a failure are NaN and `result` says why.

    `traj["slider.position.x"]` is a channel over time; `traj.channels` lists them with units.
    """

    system: System
    ts: jax.Array
    states: State
    result: Result
    statistics: Statistics
    log: Log | None = None

    @property
    def events(self):
        """Contact events, as far as `simulate(..., events=n)` kept room for them."""
        if self.log is None:
            raise ValueError("No contact events were kept: run `simulate(..., events=1000)` to keep up to 1000.")
        return Events(self.system.structure.point_labels, self.log)

    @property
    def channels(self):
        """Units by channel name."""
        return {name: channel.unit for name, channel in channels(self.system.structure).items()}

    def __getitem__(self, name):
        """One channel, shape (times,), or a list of them, shape (times, channels)."""
        if isinstance(name, str):
            return find_channel(self.system.structure, name).take(self.snapshots())
        found, s = [find_channel(self.system.structure, n) for n in name], self.snapshots()
        return jnp.stack([channel.take(s) for channel in found], axis=-1)

    def snapshots(self, *, minimum_norm=False):
        """All quantities at all times; `minimum_norm` shares undetermined reactions instead of giving NaN."""
        return snapshots(self.system, self.states, self.ts, minimum_norm)

    @property
    def energy(self):
        """Energies over time by name (J)."""
        s = self.snapshots()
        known = channels(self.system.structure)
        return {name.split(".")[1]: c.take(s) for name, c in known.items() if name.startswith("energy.")}

    @property
    def final(self):
        """The last state."""
        return jax.tree.map(lambda x: x[-1], self.states)

    def _columns(self, names):
        names = list(
            names or [n for n in self.channels if ".position." in n or n.endswith((".spin", ".axial", ".angle"))]
        )
        return names, np.column_stack([np.asarray(self.ts), np.asarray(self[names])])

    def to_csv(self, path, channels=None):
        """Write channels (positions and main joint coordinates by default) with a header of names and units."""
        names, table = self._columns(channels)
        units = self.channels
        with Atomic(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["t [s]", *(f"{n} [{units[n]}]" for n in names)])
            writer.writerows([[repr(float(x)) for x in row] for row in table])

    def to_xarray(self, channels=None):
        """The channels as an `xarray.Dataset` over time, with units as attributes (needs `mbjax[io]`)."""
        try:
            import xarray
        except ImportError:
            raise ImportError("to_xarray needs xarray: pip install 'mbjax[io]'.") from None
        names, table = self._columns(channels)
        units = self.channels
        data = {n: ("time", table[:, k + 1], {"units": units[n]}) for k, n in enumerate(names)}
        return xarray.Dataset(data, coords={"time": ("time", table[:, 0], {"units": "s"})})

    def save(self, path):
        """Write `path` (NPZ: states, times, result) and `path` with suffix .json (model, versions). No pickle."""
        path = pathlib.Path(path).with_suffix(".npz")
        text = self.system.mechanism.to_toml()
        leaves = jax.tree.leaves((self.ts, self.states, self.result, self.statistics))
        with Atomic(path, "wb") as file:
            np.savez(file, **{f"a{k}": np.asarray(x) for k, x in enumerate(leaves)})
        about = {
            "format": "mbjax trajectory 1",
            "model": text,
            "result": {"code": int(self.result.code), "message": self.result.message},
            "steps": {"accepted": int(self.statistics.accepted), "rejected": int(self.statistics.rejected)},
        }
        with Atomic(path.with_suffix(".json"), "w") as file:
            json.dump(about, file, indent=1)

    @staticmethod
    def load(path):
        """Read what `save` wrote; the model is assembled again from its text."""
        from .io.read import loads
        from .simulation import empty_trajectory
        from .system import assemble

        path = pathlib.Path(path).with_suffix(".npz")
        about = json.loads(path.with_suffix(".json").read_text())
        blank = empty_trajectory(assemble(loads(about["model"], str(path.with_suffix(".json")))))
        with np.load(path, allow_pickle=False) as data:
            leaves = [jnp.asarray(data[f"a{k}"]) for k in range(len(data.files))]
        parts = (blank.ts, blank.states, blank.result, blank.statistics)
        ts, states, result, statistics = jax.tree.unflatten(jax.tree.structure(parts), leaves)
        return Trajectory(blank.system, ts, states, result, statistics)

    def plot(self, names, axes=None):
        """Quick matplotlib plot of channels over time; returns the axes."""
        from .plot import plot

        return plot(self, names, axes)

    def animate(self, **options):
        """A matplotlib animation of the mechanism as lines between its frame points; returns the animation."""
        from .plot import animate

        return animate(self, **options)

    def view(self, path=None, channels=None, *, frames=600):
        """One HTML file that shows the motion in three dimensions beside channels; returns the page.

        Nothing is written without `path`; a notebook shows the page itself. `channels` are plotted at first, more can
        be ticked there. At most `frames` output times are kept.
        """
        from .view import make_page, make_scene

        page = make_page(make_scene(self, channels, frames))
        return page if path is None else page.write(path)
