"""Lanes last give what lanes first give, operation by operation and for whole motions."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest

import mbjax as mb
from mbjax import dense, lanes

LANES = 5
RANDOM = np.random.default_rng(3)


def positive(n):
    a = RANDOM.normal(size=(LANES, n, n))
    return a @ np.swapaxes(a, 1, 2) + n * np.eye(n)


def series(a):
    """Rounds that differ from lane to lane, with a loop in the loop."""

    def body(state):
        k, x = state
        return k + 1, jax.lax.fori_loop(0, k, lambda _, y: y + 0.1 * a, x) * 0.5

    return jax.lax.while_loop(lambda s: (s[0] < 9) & (jnp.sum(s[1]) > 0.3), body, (0, jnp.abs(a) + 1.0))


def branches(x):
    which = jnp.argmax(x[:3])
    return jax.lax.switch(which, [lambda x: x * 2, lambda x: jnp.cumsum(x), lambda x: x.at[0].set(jnp.nan)], x)


SHARED = np.arange(12.0).reshape(3, 4)
FUNCTIONS = {
    "arithmetic": (lambda x, y: jnp.where(x > 0, jnp.sin(x) * y.T, 2.0) / (1 + x**2), (3, 4), (4, 3)),
    "products": (lambda x, y: (x @ y, SHARED @ y, jnp.einsum("ij,jk,lk->il", x, y, x @ y)), (3, 4), (4, 3)),
    "batched product": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), (2, 3, 9), (2, 9, 2)),
    "shapes": (lambda x: jnp.concatenate([x.reshape(-1)[2:9:3], jnp.pad(x[0, ::2], 1), SHARED[1]]), (3, 4)),
    "places": (lambda x: (x[np.array([2, 0, 1, 2])], x[:, 1], x.at[1].add(x[0]).at[:, 2].set(0.0)), (3, 4)),
    "own places": (
        lambda x: (
            x[jnp.argmax(x)],
            x.at[jnp.argmax(x)].set(7.0),
            jnp.asarray(SHARED)[1][jnp.argmax(x)],
            x.at[jnp.argmin(x)].add(x[0]),
        ),
        (4,),
    ),
    "own rows": (
        lambda x: (
            jax.lax.dynamic_slice(x, (jnp.argmax(x[:, 0]), 0), (1, 4)),
            jax.lax.dynamic_update_slice(x, x[:1], (jnp.argmax(x[:, 0]), 0)),
            jax.lax.dynamic_update_slice(jnp.zeros(4), x[0, :1], (2,)),
        ),
        (3, 4),
    ),
    "extremes": (lambda x: (jnp.max(x, 0), jnp.argmin(x, 1), jnp.any(x > 1), jnp.sort(x, 0), jnp.flip(x)), (3, 4)),
    "loops": (series, (3,)),
    "branches": (branches, (4,)),
    "scans": (lambda x: jax.lax.scan(lambda c, r: (c + r, c * SHARED[0]), jnp.zeros(4), x), (3, 4)),
    "shared scans": (lambda x: jax.lax.scan(lambda c, r: ((c[0] + 1.0, c[1] * r), c[0]), (0.0, 1.0), x), (3,)),
    "lanes in lanes": (lambda x: jax.vmap(series)(x), (3, 2)),
    "derivatives": (lambda x: jax.jacfwd(lambda y: jnp.sum(y[:2] ** 3) * y)(x), (4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lanes_last_are_lanes_first(name):
    function, *shapes = FUNCTIONS[name]
    given = [RANDOM.normal(size=(LANES, *s)) for s in shapes]
    compare(function, *given)


def compare(function, *given):
    expected = jax.vmap(function)(*given)
    found = jax.jit(lambda *x: lanes.mapped(function, LANES, *x))(*(np.moveaxis(x, 0, -1) for x in given))
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.moveaxis(np.asarray(a), -1, 0), b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [3, 17, 30])
def test_factorisations_small_and_large(n):
    right = RANDOM.normal(size=(LANES, n))

    def solved(matrix, right):
        root, half = dense.cholesky_with(matrix, right)
        return root, dense.backward(root, half), dense.solver(matrix)(right), dense.forward(np.eye(n), right)

    compare(solved, positive(n), right)
    compare(lambda a, b: jsl.solve_triangular(a, b, lower=False, unit_diagonal=True), positive(n) / n, right)


def test_what_lanes_share_is_computed_once():
    y = jnp.arange(3.0)
    value, tangents = lanes.side_by_side(lambda d: jax.jvp(jnp.sin, (y,), (d,)), 4, jnp.ones((3, 4)))[1]
    assert (value, tangents) == (False, True)


def test_a_bad_pivot_stays_in_its_lane():
    matrices = positive(4)
    matrices[2] = -matrices[2]
    found = lanes.mapped(dense.cholesky, LANES, np.moveaxis(matrices, 0, -1))
    assert np.isnan(found[..., 2]).any() and np.isfinite(np.delete(found, 2, axis=-1)).all()


@pytest.mark.parametrize("build", [mb.library.four_bar, mb.library.bouncing_ball])
def test_motions_in_lanes_are_those_alone(build):
    mechanism = build()
    system = mb.assemble(mechanism)
    path = next(p for p in mechanism.parameters() if p.endswith(".mass"))
    values = mechanism.value(path) * np.linspace(0.7, 1.3, 3)
    ts = np.linspace(0.0, 0.3, 4)

    def motion(value):
        bound = system.bind({path: value})
        run = mb.simulate(bound, mb.initial_state(system), ts, steps=mb.Adaptive(rtol=1e-11), throw=False, events=20)
        log = (run.events.log.time, run.events.log.kind) if system.structure.points else 0.0
        return run.states.q, run.result.code, log

    together = jax.jit(lambda x: lanes.mapped(motion, 3, x))(values)
    for k, value in enumerate(values):
        for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(motion(value)), strict=True):
            np.testing.assert_allclose(np.asarray(a)[..., k], b, rtol=1e-9, atol=1e-10)
