"""Profile likelihood on models in closed form, against a search that knows nothing of the walk."""

import types

import numpy as np
import pytest
from scipy import optimize, stats

from identification import Parameter, StudyError, profile
from identification.information import covariance
from identification.levenberg_marquardt import minimise
from identification.parameter import Space
from identification.walk import Walk

T = np.linspace(0, 3, 40)


class Closed:
    """A problem without a mechanism: residuals (model(x) - data) / sigma."""

    def __init__(self, model, parameters, starts, data, sigma, fails=lambda x: False):
        self.model, self.parameters, self.data, self.sigma, self.fails = model, parameters, data, sigma, fails
        self.names = tuple(p.name for p in parameters)
        self.space = Space(parameters, starts)

    def residuals(self, u, horizon=np.inf):
        x = self.space.outward(np.asarray(u))
        return None if self.fails(x) else (self.model(x) - self.data) / self.sigma

    def linearised(self, u, horizon=np.inf):
        r = self.residuals(u)
        if r is None:
            return None
        step = 1e-6 * np.eye(u.size)
        columns = [(self.residuals(u + h) - self.residuals(u - h)) / 2e-6 for h in step]
        return r, np.stack(columns, axis=-1)

    def fitted(self):
        state, (_, jacobian) = minimise(
            Walk(self.space.start.copy()), self.residuals, self.linearised, self.space.lower, self.space.upper
        )
        x = self.space.outward(state.u)
        return types.SimpleNamespace(
            u=state.u, x=x, horizon=np.inf, inflation=1.0, cov_scaled=covariance(jacobian), names=self.names
        )


def decay(x):
    return x[0] * np.exp(-x[1] * T)


def test_a_curved_profile_equals_a_brute_force_search(random):
    data = decay([2.0, 0.7]) + 0.15 * random.normal(size=T.size)
    parameters = [Parameter("size", "a"), Parameter("rate", "b", scale="log")]
    problem = Closed(decay, parameters, [1.0, 1.0], data, 0.15)
    result = problem.fitted()
    found = profile(problem, result, "rate")
    assert found.shape == "bounded" and not found.better

    def cost(rate):
        basis = np.exp(-rate * T)
        size = basis @ data / (basis @ basis)
        return np.sum((size * basis - data) ** 2) / 0.15**2

    best = optimize.minimize_scalar(cost, bounds=(0.3, 1.5), method="bounded", options={"xatol": 1e-10})
    for end, side in ((found.low, 0.1), (found.high, 3.0)):
        expected = optimize.brentq(lambda r: cost(r) - best.fun - stats.chi2.ppf(0.95, 1), *sorted((best.x, side)))
        assert end == pytest.approx(expected, rel=2e-4)
    # Not the interval of a straight model, so the walk has something to find.
    wald = np.exp(result.u[1] + 1.959964 * np.sqrt(result.cov_scaled[1, 1]) * np.array([-1, 1]))
    assert abs(found.high - wald[1]) > 5 * abs(found.high - optimize.brentq(
        lambda r: cost(r) - best.fun - stats.chi2.ppf(0.95, 1), best.x, 3.0
    ))  # fmt: skip
    np.testing.assert_allclose(found.excess, [cost(v) - best.fun for v in found.values], atol=1e-4)


def test_a_rate_too_fast_for_the_sampling_is_one_sided(random):
    def model(x):
        return 1 - np.exp(-x[0] * T)

    data = model([30.0]) + 0.01 * random.normal(size=T.size)
    problem = Closed(model, [Parameter("rate", "a", scale="log")], [100.0], data, 0.01)
    found = profile(problem, problem.fitted(), "rate")
    assert found.shape in ("one-sided", "bounded") and np.isfinite(found.low)
    data = model([300.0]) + 0.01 * random.normal(size=T.size)
    problem = Closed(model, [Parameter("rate", "a", scale="log")], [100.0], data, 0.01)
    found = profile(problem, problem.fitted(), "rate")
    assert found.shape == "one-sided" and np.isfinite(found.low) and np.isnan(found.high) and "open" in str(found)


def test_what_the_data_do_not_see_is_flat():
    problem = Closed(
        lambda x: x[0] + 1e-9 * x[1] * T, [Parameter("seen", "a"), Parameter("unseen", "b")], [1.0, 1.0],
        np.ones(T.size), 0.1,
    )  # fmt: skip
    assert profile(problem, problem.fitted(), "unseen").shape == "flat"


def test_a_side_that_cannot_be_simulated_is_failed_and_never_raises():
    problem = Closed(
        lambda x: x[0] * T, [Parameter("slope", "a")], [1.0], T, 0.5, fails=lambda x: x[0] > 1.01
    )  # fmt: skip
    found = profile(problem, problem.fitted(), "slope")
    assert found.shape == "failed" and np.isfinite(found.low) and np.isnan(found.high)
    with pytest.raises(StudyError, match="no parameter `slop`; there are slope"):
        profile(problem, problem.fitted(), "slop")


def test_a_better_fit_on_the_way_is_reported():
    def model(x):
        return np.array([(x[0] ** 2 - 1) ** 2 + 0.3 * x[0]])

    # Two valleys with a low ridge; the fit ends in the higher one.
    problem = Closed(model, [Parameter("x", "a", lower=-3, upper=3)], [1.5], np.array([-0.4]), 1.0)
    assert profile(problem, problem.fitted(), "x").better
