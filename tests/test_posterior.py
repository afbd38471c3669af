"""Draws from the posterior: Laplace's against the fit, NUTS against a quadrature of the density itself."""

import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb
from identification.posterior import log_density

TS = np.linspace(0, 2, 41)


@pytest.fixture(scope="module")
def fitted():
    mechanism = mb.library.pendulum(length=1.0, mass=2.0, inertia=(0.1, 0.1, 0.1), angle=1.2)
    mechanism = mechanism.add(mb.JointFriction("drag", "pin", "spin", viscous=0.1))
    system = mb.assemble(mechanism)
    angle = np.asarray(mb.simulate(system, mb.initial_state(system), jnp.asarray(TS))["pin.spin"])
    angle = angle + 0.02 * np.random.default_rng(3).normal(size=TS.size)
    run = ident.Experiment("swing", ident.Recording(TS, {"a": angle}), [ident.Compared("pin.spin", "a", 0.02)])
    # Weak data and a bound at 0: the density is cut off, which no covariance tells.
    unknown = [ident.Parameter("drag", "drag.viscous", start=0.05, lower=0.0, upper=1.0, prior=(0.0, 0.05))]
    problem = ident.Problem(mechanism, unknown, [run], steps=mb.Adaptive(rtol=1e-6))
    return problem, ident.fit(problem)


def test_laplace_draws_have_the_deviation_of_the_fit(fitted):
    problem, result = fitted
    draws = ident.laplace(problem, result, 4000, seed=1)
    assert (draws.x >= 0).all() and draws.x.shape == (4000, 1)
    np.testing.assert_allclose(draws.x.std(), result.stderr[0], rtol=0.1)
    ts, median, low, high = ident.posterior_prediction(problem, draws, "swing", count=30)
    assert ts.shape == (41,) and (low <= median).all() and (median <= high).all() and (high - low).max() > 1e-4
    with pytest.raises(ident.StudyError, match="no experiment `swng`"):
        ident.posterior_prediction(problem, draws, "swng")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # blackjax's own
def test_nuts_draws_have_the_moments_of_the_density(fitted):
    problem, result = fitted
    density = log_density(problem)
    u = np.linspace(0.0, result.u[0] + 8 * result.stderr[0] / problem.space.unit[0], 161)
    logs = np.array([float(density(jnp.array([x]))) for x in u])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ u
    deviation = np.sqrt(weights @ (u - mean) ** 2)
    draws = ident.nuts(problem, result, 1500, warmup=200, seed=2)
    assert draws.divergences < 30 and draws.acceptance > 0.5
    assert abs(draws.u.mean() - mean) < 0.15 * deviation
    np.testing.assert_allclose(draws.u.std(), deviation, rtol=0.12)
    with pytest.raises(ident.StudyError, match="no probability density"):
        log_density(ident.Problem(problem.mechanism, problem.parameters, problem.experiments, loss="cauchy"))
