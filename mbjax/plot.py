"""Quick matplotlib pictures: channels over time with units, and a moving line drawing of the mechanism."""

import numpy as np


def plot(trajectory, names, axes=None):
    """Channels over time, one panel per unit; returns the array of axes."""
    import matplotlib.pyplot as plt

    names = [names] if isinstance(names, str) else list(names)
    units = trajectory.channels
    values = {name: np.asarray(trajectory[name]) for name in names}
    groups = {}
    for name in names:
        groups.setdefault(units[name], []).append(name)
    if axes is None:
        _, axes = plt.subplots(len(groups), 1, sharex=True, squeeze=False, figsize=(8, 2.6 * len(groups)))
    axes = np.ravel(axes)
    if len(axes) < len(groups):
        raise ValueError(f"plot: {len(groups)} units ({', '.join(groups)}) need as many axes, got {len(axes)}.")
    times = np.asarray(trajectory.ts)
    for axis, (unit, members) in zip(axes, groups.items(), strict=False):
        for name in members:
            axis.plot(times, values[name], label=name)
        axis.set_ylabel(f"[{unit}]")
        axis.legend(loc="upper right", fontsize="small")
        axis.grid(alpha=0.3)
    axes[len(groups) - 1].set_xlabel("time [s]")
    return axes


def skeleton(trajectory):
    """Line segments of the mechanism over time (times, segments, 2, 3): from each mass centre to its frame points."""
    structure, model = trajectory.system.structure, trajectory.system.model
    seen = trajectory.snapshots()
    centres, turns = np.asarray(seen.position), np.asarray(seen.orientation)
    segments = []
    for c, (i, j) in enumerate(structure.connection_bodies):
        for body, points in ((i, model.bearing_point), (j, model.journal_point)):
            if body < structure.bodies:
                ends = centres[:, body] + turns[:, body] @ np.asarray(points)[c]
                segments.append(np.stack([centres[:, body], ends], axis=1))
    return np.stack(segments, axis=1) if segments else np.repeat(centres[:, :, None], 2, axis=2)


def animate(trajectory, *, view=(20, -60), interval=40):
    """A 3-D matplotlib animation (`FuncAnimation`); save it with `.save("out.gif")`."""
    import matplotlib.pyplot as plt
    from matplotlib.animation import FuncAnimation

    lines = skeleton(trajectory)
    figure = plt.figure(figsize=(6, 6))
    axes = figure.add_subplot(projection="3d")
    low, high = lines.reshape(-1, 3).min(axis=0), lines.reshape(-1, 3).max(axis=0)
    middle, half = (low + high) / 2, max((high - low).max() / 2, 1e-6)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    axes.set_zlim(middle[2] - half, middle[2] + half)
    axes.view_init(*view)
    artists = [axes.plot(*segment.T, "o-", markersize=3)[0] for segment in lines[0]]
    times = np.asarray(trajectory.ts)

    def draw(frame):
        for artist, segment in zip(artists, lines[frame], strict=True):
            artist.set_data_3d(*segment.T)
        axes.set_title(f"t = {times[frame]:.3f} s")
        return artists

    return FuncAnimation(figure, draw, frames=len(times), interval=interval)
