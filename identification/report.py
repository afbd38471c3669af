"""`report.html`: one page about a fit that opens anywhere, with all pictures inside it."""

import base64
import html
import io
import pathlib

import numpy as np

from mbjax.files import Atomic

from .information import GOOD
from .repeats import MUCH

_MOST_POINTS = 4000  # per curve
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: .3em .8em; border-bottom: 1px solid #ddd; }
th { text-align: left; } td.n { text-align: right; font-variant-numeric: tabular-nums; } img { max-width: 100%; }
.good { color: #17692b; } .bad { color: #a3260d; } footer { color: #777; font-size: 13px; }
"""


def write_report(problem, result, path, profiles=(), spread=None):
    """Write the page. `profiles` are those that were computed, `spread` the `Repeats` of the runs one by one; the rest
    comes from the result and the problem."""
    from matplotlib.figure import Figure

    parts = [_table(result), _channel_table(result)]
    parts += _section("Data and model", _data_figures(problem, result, Figure))
    parts += _section("Profiles", [_profile_figure(p, Figure) for p in profiles])
    if spread is not None:
        parts += _section("From run to run", [_repeats_table(spread, result), _repeats_figure(spread, result, Figure)])
    if len(result.names) > 1:
        parts += _section("Correlation of the parameters", [_correlation_figure(result, Figure)])
    parts += _section("Where the data speak: sensitivity over time", _sensitivity_figures(problem, result, Figure))
    parts += _section("The way there", [_history_figure(result, Figure)])
    starts = {row["start"] for row in result.history}
    if len(starts) > 1:
        parts += _section("Costs of all starts", [_waterfall_figure(result, Figure)])
    name = html.escape(problem.mechanism.name)
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}: fit</title>'
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1>{''.join(parts)}{_footer(result)}</body></html>\n"
    )
    with Atomic(pathlib.Path(path), "w", encoding="utf-8") as file:
        file.write(page)


def _section(title, pictures):
    return [f"<h2>{title}</h2>", *pictures] if pictures else []


def _table(result):
    rows = ["<tr><th>parameter<th>value<th>standard deviation<th>95 % interval<th>start<th>verdict</tr>"]
    for k, name in enumerate(result.names):
        unit = f" {result.units[k]}" if result.units[k] else ""
        low, high = result.interval[k]
        verdict = result.verdicts[k]
        colour = "good" if verdict.word in GOOD else "bad"
        cells = (f"{result.x[k]:.7g}{unit}", f"{result.stderr[k]:.2g}", f"{low:.6g} .. {high:.6g}")
        numbers = "".join(f'<td class="n">{html.escape(c)}' for c in (*cells, f"{result.start[k]:.4g}"))
        rows.append(f'<tr><td>{html.escape(name)}{numbers}<td class="{colour}">{html.escape(str(verdict))}</tr>')
    state = "good" if result.success else "bad"
    lines = [
        f'<p class="{state}">{html.escape(result.message)}; reduced chi-square {result.redchi:.4g}; compared up to '
        f"{result.horizon:.4g} s after each start.</p>"
    ]
    if result.inflation > 1:
        lines.append(
            f'<p class="bad">The residuals are not white noise of the stated size: deviations and intervals are '
            f"{result.inflation:.2g} times those that the noise alone would give.</p>"
        )
    return f"<h2>Parameters</h2><table>{''.join(rows)}</table>{''.join(lines)}"


def _channel_table(result):
    rows = [
        "<tr><th>experiment<th>channel<th>role<th>rms of residuals<th>noise<th>fit<th>correlation of neighbours</tr>"
    ]
    for c in result.channels:
        text = "".join(f"<td>{html.escape(c[key])}" for key in ("experiment", "channel", "role"))
        numbers = (f"{c['rms']:.3g}", f"{c['sigma']:.3g}", f"{c['fit_percent']:.4g} %", f"{c['lag1']:.2f}")
        rows.append(f"<tr>{text}{''.join(f'<td class=n>{n}' for n in numbers)}</tr>")
    return f"<h2>Channels</h2><table>{''.join(rows)}</table>"


def _footer(result):
    versions = ", ".join(f"{n} {v}" for n, v in result.provenance["versions"].items())
    data = ", ".join(str(d)[:12] for d in result.provenance["settings"].get("data", ()))
    return f"<footer>{html.escape(versions)}; data {html.escape(data)}; {result.nfev} steps</footer>"


def _picture(figure, words):
    """The figure as an image inside the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="{html.escape(words)}" src="data:image/svg+xml;base64,{text}">'


def _thinned(count):
    return slice(None, None, max(1, -(-count // _MOST_POINTS)))


def _data_figures(problem, result, Figure):
    found = []
    for run, e in zip(problem.runs, problem.experiments, strict=True):
        inside, model = run.predict(result.u, result.horizon)
        for k, compared in enumerate(e.compared):
            rows = np.flatnonzero(run.kept[:, k] & inside)
            rows = rows[_thinned(rows.size)]
            along, label = run.abscissa
            t, data = along[rows], run.measured[rows, k]
            figure = Figure(figsize=(10, 4.6), layout="constrained")
            above, below = figure.subplots(2, sharex=True, height_ratios=(2, 1))
            above.plot(t, data, ".", ms=2.5, color="0.6", label="measured")
            above.plot(t, model[rows, k], lw=1, label="model")
            above.set_title(f"{e.name}: {compared.channel}" + (" (validation)" if e.validation else ""), fontsize=10)
            above.legend(fontsize=8)
            sigma = problem.sigmas[problem.runs.index(run)][k]
            below.plot(t, (data - model[rows, k]) / sigma, ".", ms=2)
            below.axhspan(-2, 2, color="0.9", zorder=0)
            below.set_ylabel("residual / noise", fontsize=8)
            below.set_xlabel(label)
            found.append(_picture(figure, f"{e.name}, {compared.channel}: measured and model"))
    return found


def _profile_figure(profile, Figure):
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(profile.values, profile.excess, ".-")
    from scipy import stats

    axes.axhline(stats.chi2.ppf(profile.level, 1), color="0.5", ls="--", lw=1)
    for end in (profile.low, profile.high):
        if np.isfinite(end):
            axes.axvline(end, color="0.5", lw=1)
    axes.set_xlabel(f"{profile.name} [{profile.unit}]" if profile.unit else profile.name)
    axes.set_ylabel("excess of chi-square")
    axes.set_title(str(profile), fontsize=8)
    return _picture(figure, f"profile of {profile.name}")


def _repeats_table(spread, result):
    rows = ["<tr><th>parameter<th>mean of the runs<th>spread<th>what noise explains<th>spread / noise</tr>"]
    for k, name in enumerate(spread.names):
        unit = f" {result.units[k]}" if result.units[k] else ""
        many = "bad" if spread.ratio[k] > MUCH else "good"
        numbers = (f"{spread.mean[k]:.6g}{unit}", f"{spread.spread[k]:.2g}", f"{spread.expected[k]:.2g}")
        cells = "".join(f'<td class="n">{html.escape(c)}' for c in numbers)
        rows.append(f'<tr><td>{html.escape(name)}{cells}<td class="n {many}">{spread.ratio[k]:.2g}</tr>')
    words = (
        f"<p>Every run fitted alone. Where the spread is more than {MUCH:g} times what noise explains, something "
        "changes from run to run that the model holds fixed, and the intervals above are too narrow.</p>"
    )
    return f"<table>{''.join(rows)}</table>{words}"


def _repeats_figure(spread, result, Figure):
    count = len(spread.names)
    figure = Figure(figsize=(10, 1.9 * -(-count // 3)), layout="constrained")
    every = figure.subplots(-(-count // 3), 3, squeeze=False).ravel()
    at = np.arange(len(spread.runs))
    for k, axes in enumerate(every):
        if k >= count:
            axes.set_axis_off()
            continue
        axes.errorbar(at, spread.x[:, k], 1.96 * spread.stderr[:, k], fmt="o", ms=3, capsize=2)
        axes.axhline(result.x[k], color="0.5", lw=1)
        axes.set_xticks(at, spread.runs, rotation=60, ha="right", fontsize=7)
        axes.set_title(f"{spread.names[k]} [{result.units[k]}]" if result.units[k] else spread.names[k], fontsize=9)
    return _picture(figure, "every parameter from run to run, with 95 % intervals; the line is the joint fit")


def _correlation_figure(result, Figure):
    count = len(result.names)
    figure = Figure(figsize=(2.5 + 0.5 * count, 1.8 + 0.5 * count), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(result.correl, vmin=-1, vmax=1, cmap="RdBu_r")
    axes.set_xticks(range(count), result.names, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(count), result.names, fontsize=8)
    for i in range(count):
        for j in range(count):
            axes.text(j, i, f"{result.correl[i, j]:.2f}", ha="center", va="center", fontsize=7)
    figure.colorbar(image)
    return _picture(figure, "correlation of the parameters")


def _sensitivity_figures(problem, result, Figure):
    """Change of each channel, in units of its noise, for a change by one deviation of each parameter."""
    found = []
    deviation = np.sqrt(np.diag(result.cov_scaled))
    for run, e, sigma in zip(problem.runs, problem.experiments, problem.sigmas, strict=True):
        slopes = run.slopes_at(result.u, result.horizon)
        figure = Figure(figsize=(10, 2.4 * len(e.compared)), layout="constrained")
        inside, _ = run.window(result.horizon)
        rows = np.flatnonzero(inside)
        rows = rows[_thinned(rows.size)]
        along, label = run.abscissa
        for k, (axes, compared) in enumerate(
            zip(np.atleast_1d(figure.subplots(len(e.compared), sharex=True)), e.compared, strict=True)
        ):
            for j, name in enumerate(result.names):
                factor = deviation[j] if np.isfinite(deviation[j]) else 1.0
                axes.plot(along[rows], slopes[rows, k, j] * factor / sigma[k], lw=1, label=name)
            axes.set_title(f"{e.name}: {compared.channel}", fontsize=9)
            axes.set_ylabel("change / noise", fontsize=8)
        axes.legend(fontsize=8)
        axes.set_xlabel(label)
        found.append(_picture(figure, f"{e.name}: sensitivity over time"))
    return found


def _history_figure(result, Figure):
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    costs = np.array([row["cost"] for row in result.history])
    horizons = np.array([row["horizon"] for row in result.history])
    for horizon in sorted(set(horizons)):
        places = np.flatnonzero(horizons == horizon)
        axes.semilogy(places, np.maximum(costs[places], 1e-300), ".-", label=f"up to {horizon:.3g} s")
    axes.set_xlabel("step")
    axes.set_ylabel("cost")
    axes.legend(fontsize=8)
    return _picture(figure, "cost by step, horizon by horizon")


def _waterfall_figure(result, Figure):
    last = {}
    for row in result.history:
        if row["horizon"] == result.horizons[-1]:
            last[row["start"]] = row["cost"]
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(range(1, len(last) + 1), sorted(last.values()), "o-")
    axes.set_xlabel("start, best first")
    axes.set_ylabel("cost")
    return _picture(figure, "costs of all starts")
