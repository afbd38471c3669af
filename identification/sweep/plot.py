"""Pictures of sweeps and sensitivities: bifurcation diagrams, Poincare maps, parameter maps, tornados, Sobol bars."""

import numpy as np

from ..errors import StudyError


def _figure(width=7.0, height=4.5):
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _column(result, path):
    if path not in result.samples.paths:
        raise StudyError(f"plot: `{path}` was not varied. Known: {', '.join(result.samples.paths)}.")
    return result.samples.values[:, result.samples.paths.index(path)]


def scatter(result, labels, x, file):
    """Measures over one of the varied numbers."""
    figure = _figure()
    axes = figure.subplots()
    for label in labels:
        axes.plot(_column(result, x), result[label], ".", markersize=3, label=label)
    axes.set_xlabel(x)
    axes.set_ylabel(labels[0] if len(labels) == 1 else "")
    if len(labels) > 1:
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=130)


def bifurcation(result, x, channel, file):
    """All points of a Poincare section of `channel` over one of the varied numbers."""
    labels = [label for label in result.labels if label.startswith(f"{channel} at section ")]
    if not labels:
        raise StudyError(f"bifurcation: there is no section of `{channel}`; sweep with `measure.Poincare`.")
    figure = _figure()
    axes = figure.subplots()
    for label in labels:
        axes.plot(_column(result, x), result[label], "k.", markersize=1.5)
    axes.set_xlabel(x)
    axes.set_ylabel(f"{channel}, once per period")
    figure.savefig(file, dpi=130)


def poincare_map(result, variant, channels, file):
    """Two channels of the section of one variant against each other."""
    figure = _figure(5.0, 4.5)
    axes = figure.subplots()
    points = []
    for channel in channels:
        labels = [label for label in result.labels if label.startswith(f"{channel} at section ")]
        if not labels:
            raise StudyError(f"poincare_map: there is no section of `{channel}`.")
        points.append([result[label][variant] for label in labels])
    axes.plot(*points, "k.", markersize=3)
    axes.set_xlabel(channels[0])
    axes.set_ylabel(channels[1])
    figure.savefig(file, dpi=130)


def parameter_map(result, label, x, y, file):
    """A measure as colours over two varied numbers; failed variants stay white."""
    samples = result.samples
    if samples.axes is None or len(samples.paths) != 2:
        raise StudyError("parameter_map: needs a grid over two numbers.")
    _column(result, x), _column(result, y)
    table = result.on_grid(label)
    first = samples.paths.index(x)
    figure = _figure()
    axes = figure.subplots()
    xs, ys = samples.axes[first], samples.axes[1 - first]
    image = axes.pcolormesh(xs, ys, table.T if first == 0 else table, shading="nearest")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    figure.colorbar(image, ax=axes, label=label)
    figure.savefig(file, dpi=130)


def tornado(sensitivity, file):
    """The ranking of a `Sensitivity` as bars."""
    rows = sensitivity.ranking()[::-1]
    figure = _figure(8.0, 1.2 + 0.35 * len(rows))
    axes = figure.subplots()
    axes.barh([p for p, _, _ in rows], [s for _, _, s in rows])
    for k, (_, channel, s) in enumerate(rows):
        axes.annotate(f" {channel}", (s, k), va="center", fontsize=7)
    axes.margins(x=0.25)
    axes.set_xlabel("spreads of the output per relative change of the number")
    figure.savefig(file, dpi=130)


def sobol_bars(indices, paths, file):
    """First-order and total indices of one measure, with their confidence."""
    figure = _figure(8.0, 1.2 + 0.5 * len(paths))
    axes = figure.subplots()
    places = np.arange(len(paths))
    for shift, name in ((0.2, "S1"), (-0.2, "ST")):
        axes.barh(places + shift, indices[name], 0.38, xerr=indices[f"{name}_conf"], label=name)
    axes.set_yticks(places, paths)
    axes.legend()
    axes.set_xlabel("share of the variance")
    figure.savefig(file, dpi=130)
