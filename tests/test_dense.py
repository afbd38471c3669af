"""Dense factorisations: right under every nesting of vmap, differentiable, and never one batched LAPACK call."""

import re

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from mbjax import dense


def _spd(*batch, n=5):
    a = np.random.default_rng(0).normal(size=(*batch, n, n))
    return a @ np.swapaxes(a, -1, -2) + np.eye(n)


def test_cholesky_under_nested_vmap():
    a = _spd(3, 4)
    factor = jax.jit(jax.vmap(jax.vmap(dense.cholesky)))(a)
    np.testing.assert_allclose(factor, np.linalg.cholesky(a), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)])
@pytest.mark.parametrize("shape", [(5,), (5, 2)])
@pytest.mark.parametrize("which", ["forward", "backward", "lu_solve"])
def test_solves_under_vmap(which, shape, axes):
    batch = 4
    lower = np.linalg.cholesky(_spd(batch))
    matrix = {"forward": lower, "backward": np.swapaxes(lower, -1, -2), "lu_solve": _spd(batch) + 0.3 * lower}[which]
    factor = jax.vmap(dense.lu)(matrix) if which == "lu_solve" else lower
    right = np.random.default_rng(1).normal(size=(batch, *shape))
    if axes[0] is None:
        factor, matrix = jax.tree.map(lambda x: x[0], factor), matrix[0]
    if axes[1] is None:
        right = right[0]
    x = jax.jit(jax.vmap(getattr(dense, which), in_axes=axes))(factor, right)
    columns = right if len(shape) == 2 else right[..., None]
    expected = np.linalg.solve(matrix, columns).reshape(batch, *shape)
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("which", ["forward", "backward"])
def test_triangular_solves_have_derivatives_of_both_modes_under_vmap(which):
    lower, right = np.linalg.cholesky(_spd()), np.arange(1.0, 6.0)

    def ours(lower, right):
        return jnp.sum(jnp.cos(getattr(dense, which)(lower, right)))

    def plain(lower, right):
        return jnp.sum(jnp.cos(jnp.linalg.solve(jnp.tril(lower) if which == "forward" else jnp.tril(lower).T, right)))

    for mode in (jax.jacfwd, jax.jacrev):
        for k in (0, 1):
            expected = mode(plain, k)(lower, right)
            np.testing.assert_allclose(mode(ours, k)(lower, right), expected, rtol=1e-9, atol=1e-12)
            many = jax.jit(jax.vmap(mode(ours, k), in_axes=(None, 0)))(lower, np.stack([right, right]))
            np.testing.assert_allclose(many[1], expected, rtol=1e-9, atol=1e-12)


def test_solver_has_derivatives_of_both_modes():
    a, b = _spd() + np.triu(np.ones((5, 5))), np.arange(5.0)

    def ours(a, b):
        return jnp.sum(jnp.sin(dense.solver(a)(b)))

    def plain(a, b):
        return jnp.sum(jnp.sin(jnp.linalg.solve(a, b)))

    for mode in (jax.jacfwd, jax.jacrev):
        for argument in (0, 1):
            np.testing.assert_allclose(mode(ours, argument)(a, b), mode(plain, argument)(a, b), rtol=1e-9, atol=1e-12)
    many = jax.jit(jax.vmap(jax.grad(ours), in_axes=(0, None)))(np.stack([a, 2 * a]), b)
    np.testing.assert_allclose(many[1], jax.grad(plain)(2 * a, b), rtol=1e-9, atol=1e-12)


def test_closed_forms_of_three_by_three():
    a = _spd(6, n=3)
    factor = dense.cholesky3(a)
    np.testing.assert_allclose(factor, np.linalg.cholesky(a), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        dense.inverse_lower3(factor), np.linalg.inv(np.linalg.cholesky(a)), rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize("solver", [diffrax.Dopri8(), mb.Rodas4(), diffrax.Kvaerno5()], ids=lambda s: type(s).__name__)
def test_a_batch_makes_no_batched_lapack_call(solver):
    """Two of them at once never return on a machine with two cores (jaxlib 0.10)."""
    system = mb.assemble(mb.library.slider_crank_3d())
    state = mb.initial_state(system)

    def end(factor):
        heavier = eqx.tree_at(lambda s: s.model.mass, system, system.model.mass * factor)
        return mb.simulate(heavier, state, jnp.linspace(0.0, 0.1, 3), solver=solver)

    text = jax.jit(jax.vmap(lambda f: end(f).final.q.position)).lower(jnp.ones(2000)).as_text()
    calls = [line for line in text.splitlines() if "lapack_d" in line]
    assert calls
    assert not [c for c in calls if re.search(r"tensor<\d+x\d+x\d+xf64>", c)]
