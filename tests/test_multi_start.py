"""Several starts of a fit side by side: the numbers of each alone, resume, and which of them is the best."""

import copy

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import identification as ident
import mbjax as mb

ROUGH = mb.Adaptive(rtol=1e-6)


def swing(sigma=1e-3, steps=ROUGH):
    """A pendulum's angle with 1 mrad of noise; gravity and the speed at the start are unknown."""
    mechanism = mb.library.pendulum(inertia=(0.1, 0.05, 0.1))
    system = mb.assemble(mechanism)
    state = mb.initial_state(system, speeds={"pin.spin": 1.0})
    ts = np.linspace(0.0, 4.0, 161)
    angle = np.asarray(mb.simulate(system, state, ts)["pin.spin"])
    angle = angle + 1e-3 * np.random.default_rng(3).normal(size=ts.size)
    experiment = ident.Experiment(
        "swing",
        ident.Recording(ts, {"a": angle}),
        [ident.Compared("pin.spin", "a", sigma=sigma)],
        speeds={"pin.spin": 1.0},
    )
    unknown = [
        ident.Parameter("g", "gravity.acceleration.y", start=-12.0, lower=-40.0, upper=-2.0),
        ident.Parameter("speed", "start.speeds.pin.spin", start=0.8, lower=-4.0, upper=4.0),
    ]
    return ident.Problem(mechanism, unknown, [experiment], steps=steps)


def ends(found):
    """Last values of every start, by its number."""
    return {row["start"]: row["x"] for row in found.history}


@pytest.mark.slow
def test_starts_abreast_give_the_numbers_that_each_gives_alone():
    problem = swing()
    together = ident.fit(problem, starts=5, abreast="cores")
    assert together.success and set(ends(together)) == set(range(5))
    batch = ident.fit(problem, starts=5, abreast="batch")
    np.testing.assert_allclose(batch.x, together.x, rtol=1e-9)
    costs = {}
    for k, first in enumerate(_first_points(problem, 5)):
        alone = copy.copy(problem)
        alone.space = copy.deepcopy(problem.space)
        alone.space.start = first
        found = ident.fit(alone)
        costs[k] = found.chisqr
        np.testing.assert_array_equal(ends(together)[k], found.history[-1]["x"])
    assert together.chisqr == min(costs.values())
    assert max(costs.values()) > 2 * together.chisqr, "all starts ended in one valley: this shows nothing"
    with pytest.raises(ident.StudyError, match='abreast `gpu` is unknown; give "cores" or "batch"'):
        ident.fit(problem, abreast="gpu")


def _first_points(problem, count):
    from identification.fit import _starting_points

    return _starting_points(problem, count, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["lm", optax.adam(0.05), optax.lbfgs(1.0, linesearch=None)], ids=["lm", "adam", "lbfgs"]
)
def test_an_interrupted_fit_of_several_starts_goes_on_bit_by_bit(tmp_path, method):
    path, lines = tmp_path / "checkpoint.json", []
    settings = {"method": method, "starts": 3, "horizons": [1.0, 4.0], "most": 12}
    problem = swing()
    whole = ident.fit(problem, **settings)

    def interrupt(line):
        lines.append(line)
        if len(lines) in (4, 9, 17):
            raise KeyboardInterrupt

    for _ in range(3):
        part = ident.fit(problem, checkpoint=path, note=interrupt, **settings)
        assert "interrupted" in part.message and not part.success
    resumed = ident.fit(problem, checkpoint=path, **settings)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert ends(resumed) == ends(whole) and len(resumed.history) == len(whole.history)


@pytest.mark.slow
def test_the_best_start_explains_most_where_the_noise_is_estimated():
    """Every start then has a chi-square of one per sample: the valley with the least noise is the right one."""
    found = ident.fit(swing(sigma="estimate"), starts=5)
    np.testing.assert_allclose(found.channels[0]["sigma"], 1e-3, rtol=0.1)
    np.testing.assert_allclose(found.x, [-9.81, 1.0], rtol=5e-3)
    assert jnp.isfinite(found.aic)
