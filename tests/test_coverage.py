"""Four numbers of a clearance joint from noisy data of another code: errors, and whether the intervals tell the truth.

The study `python -m experiments run coverage` does the same over a whole turn, every one of 200 seeds from a factor of
two off.
"""

import numpy as np
import pytest

import identification as ident
from experiments import coverage
from experiments.planar_reference import REVOLUTION

SEEDS = 20


@pytest.mark.slow
def test_intervals_hold_the_truth_and_errors_have_the_size_they_say():
    ts, position, acceleration, _ = coverage.truth()
    part = ts <= 0.4 * REVOLUTION
    ts, position, acceleration = ts[part], position[part], acceleration[part]
    base = coverage.problem(ts, position, acceleration)
    first = ident.fit(
        base.with_recordings({"turn": coverage.noisy(ts, position, acceleration, 0)}), horizons=coverage.HORIZONS[:4]
    )
    truth = np.array(list(coverage.TRUTH.values()))
    assert first.success and np.abs(first.x / truth - 1).max() < 0.01 and first.redchi == pytest.approx(1, abs=0.15)
    results = []
    for seed in range(SEEDS):
        again = base.with_recordings({"turn": coverage.noisy(ts, position, acceleration, seed)})
        again.space.start[:] = first.u
        results.append(ident.fit(again, horizons=[ts[-1]]))
    scores = [coverage.scores(found) for found in results]
    z, held = np.array([s[0] for s in scores]), np.array([s[1] for s in scores])
    assert np.abs(z.mean(axis=0)).max() < 3.5 / np.sqrt(SEEDS)
    assert z.std(axis=0).min() > 0.6 and z.std(axis=0).max() < 1.5
    assert held.mean(axis=0).min() >= 0.8


def test_other_samples_need_the_same_times():
    ts = np.linspace(0.0, 1e-4, 11)
    problem = coverage.problem(ts, np.full(11, 0.17), np.zeros(11))
    before = problem.residuals(problem.space.start)
    shifted = problem.with_recordings({"turn": ident.Recording(ts, {"x": np.full(11, 0.17 + 2e-6), "a": np.zeros(11)})})
    np.testing.assert_allclose((before - shifted.residuals(shifted.space.start)).reshape(11, 2), [[1.0, 0.0]] * 11)
    np.testing.assert_array_equal(problem.residuals(problem.space.start), before)
    with pytest.raises(ident.StudyError, match=r"there is no experiment `tern`\. Known: turn"):
        problem.with_recordings({"tern": problem.experiments[0].recording})
    with pytest.raises(ident.StudyError, match="other times"):
        problem.with_recordings({"turn": ident.Recording(ts + 1e-6, {"x": ts, "a": ts})})
