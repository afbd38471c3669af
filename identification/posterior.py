"""Draws from what the data leave possible: Laplace's approximation, and NUTS through blackjax (extra `bayes`)."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from .errors import StudyError


@dataclasses.dataclass(frozen=True)
class Draws:
    """Parameter values drawn from the posterior."""

    names: tuple[str, ...]
    x: np.ndarray  # (draws, parameters)
    u: np.ndarray  # the same in the space of the fit
    acceptance: float = float("nan")  # mean acceptance of NUTS, aim 0.8
    divergences: int = 0

    def interval(self, share=0.95):
        """Equal-tailed intervals (parameters, 2)."""
        return np.quantile(self.x, [(1 - share) / 2, (1 + share) / 2], axis=0).T

    def __str__(self):
        width = max(len(n) for n in self.names)
        rows = zip(self.names, self.x.mean(axis=0), self.x.std(axis=0), self.interval(), strict=True)
        lines = [f"{n.ljust(width)}  {m:.7g} +- {s:.2g}, 95 % in {a:.6g} .. {b:.6g}" for n, m, s, (a, b) in rows]
        if self.divergences:
            lines.append(f"{self.divergences} divergent transitions: do not trust these draws")
        return "\n".join(lines)


def laplace(problem, result, count=1000, *, seed=0):
    """Draws from the normal distribution around the fit (in its own space) with the fit's covariance, within bounds."""
    if not np.isfinite(result.cov_scaled).all():
        raise StudyError("laplace: a parameter is not pinned by the data; its variance is infinite. See the verdicts.")
    random, kept = np.random.default_rng(seed), []
    for _ in range(200):
        u = random.multivariate_normal(result.u, result.cov_scaled, size=count, method="eigh")
        kept.extend(u[((u >= problem.space.lower) & (u <= problem.space.upper)).all(axis=1)])
        if len(kept) >= count:
            u = np.array(kept[:count])
            return Draws(problem.names, problem.space.outward(u), u)
    raise StudyError("laplace: nearly all of the distribution lies outside the bounds.")


def nuts(problem, result, count=1000, *, warmup=300, seed=0):
    """Draws by the no-U-turn sampler, started at the fit and scaled by its covariance; needs `mbjax[bayes]`.

    The density is that of independent normal residuals with the fit's noise, times the priors; uniform (in the space
    of the fit) within the bounds. Its gradient is that of the forward sensitivities.
    """
    try:
        import blackjax
    except ImportError:
        raise ImportError("nuts needs blackjax: pip install 'mbjax[bayes]'.") from None
    density = log_density(problem)
    centre = jnp.asarray(result.u)
    root = jnp.asarray(np.linalg.cholesky(result.cov_scaled))

    def scaled(z):
        return density(centre + root @ z)

    key, sampling = jax.random.split(jax.random.key(seed))
    adaptation = blackjax.window_adaptation(blackjax.nuts, scaled)
    (state, settings), _ = adaptation.run(key, jnp.zeros(centre.shape), num_steps=warmup)
    kernel = blackjax.nuts(scaled, **settings)

    def step(state, key):
        state, info = kernel.step(key, state)
        return state, (state.position, info.acceptance_rate, info.is_divergent)

    _, (z, rate, divergent) = jax.jit(lambda s: jax.lax.scan(step, s, jax.random.split(sampling, count)))(state)
    u = np.asarray(centre + z @ root.T)
    return Draws(problem.names, problem.space.outward(u), u, float(rate.mean()), int(divergent.sum()))


def log_density(problem):
    """The logarithm of the posterior density (but for a constant) as a traceable function of u."""
    if problem.loss != "linear":
        raise StudyError(f"nuts: the loss `{problem.loss}` is no probability density; sample with the linear one.")
    runs = [(problem.runs[k], jnp.asarray(problem.sigmas[k])) for k in problem.training()]
    lower, upper = jnp.asarray(problem.space.lower), jnp.asarray(problem.space.upper)

    def residuals(u):
        parts = []
        for run, sigma in runs:
            model = run.prediction(u, jnp.asarray(run.times))[:, : run.measured.shape[1]]
            rows = jnp.asarray(run.kept)
            measured = jnp.where(rows, jnp.asarray(np.where(run.kept, run.measured, 0.0)), 0.0)
            parts.append(jnp.where(rows, (jnp.where(rows, model, 0.0) - measured) / sigma, 0.0).reshape(-1))
        return jnp.concatenate([*parts, problem.prior_residual(u)])

    def inside(u, value):
        good = jnp.all((u >= lower) & (u <= upper)) & jnp.isfinite(value)
        return jnp.where(good, value, -jnp.inf)

    @jax.custom_vjp
    def density(u):
        r = residuals(u)
        return inside(u, -0.5 * jnp.dot(r, r))

    def forward(u):
        slope, r = jax.jacfwd(lambda u: (lambda r: (r, r))(residuals(u)), has_aux=True)(u)
        return inside(u, -0.5 * jnp.dot(r, r)), -(slope.T @ r)

    density.defvjp(forward, lambda gradient, ct: (ct * gradient,))
    return density


def posterior_prediction(problem, draws, experiment, *, count=100, share=0.95):
    """`(times, median, low, high)` of every compared channel of an experiment (times, channels) under the draws."""
    names = [e.name for e in problem.experiments]
    if experiment not in names:
        raise StudyError(f"posterior_prediction: there is no experiment `{experiment}`. Known: {', '.join(names)}.")
    run = problem.runs[names.index(experiment)]
    found = np.stack([run.predict(u)[1] for u in draws.u[:count]])
    good = np.isfinite(found).all(axis=(1, 2))
    if not good.any():
        raise StudyError("posterior_prediction: no draw could be simulated.")
    low, median, high = np.quantile(found[good], [(1 - share) / 2, 0.5, (1 + share) / 2], axis=0)
    return run.times, median, low, high
