"""Small dense factorisations that are safe and fast under `vmap`.

jaxlib (0.10) runs a batched LAPACK call on XLA's own thread pool and waits there for its parts: two such calls at
once on a machine with two cores wait for each other for ever (seen at 1900 lanes, stack in `jax::ParallelBatchMap`).
On CPUs a batch is therefore solved lane by lane, which measured the same speed (17 x 17: 1.1 us per lane both ways)
and gives each lane the digits that it has alone. Other devices get the batched call.
"""

import functools

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl


def _lane_by_lane(function, columns=False):
    """`function` with a rule for `vmap`; with `columns`, right sides that alone vary share one factor."""

    @jax.custom_batching.custom_vmap
    def one(*args):
        return function(*args)

    @one.def_vmap
    def _(size, batched, *args):
        if columns and not any(jax.tree.leaves(batched[0])):
            return _as_columns(one, *args), True

        def widened(*args):
            return jax.tree.map(lambda x, b: x if b else jnp.broadcast_to(x, (size, *x.shape)), args, tuple(batched))

        def lanes(*args):
            return jax.lax.map(lambda x: one(*x), widened(*args))

        def together(*args):
            return jax.vmap(function)(*widened(*args))

        out = jax.lax.platform_dependent(*args, cpu=lanes, default=together)
        return out, jax.tree.map(lambda _: True, out)

    return one


def _as_columns(one, factor, right):
    """Right sides along axis 0, each of shape (n,) or (n, k), as the columns of one system."""
    columns = jnp.moveaxis(right, 0, -1)
    return jnp.moveaxis(one(factor, columns.reshape(columns.shape[0], -1)).reshape(columns.shape), -1, 0)


@_lane_by_lane
def cholesky(matrix):
    """The lower factor; NaN where the matrix is not positive definite. Only the lower triangle is read."""
    return jnp.linalg.cholesky(matrix, symmetrize_input=False)


@jax.custom_jvp
def cholesky_with(matrix, right):
    """The lower factor and factor^-1 right from one factorisation. Derivatives are those by `right` alone.

    The right side rides along as one more row of the matrix: what a Cholesky factorisation writes there is
    factor^-1 right, which saves a call of the linear algebra library. The corner is large enough never to be a bad
    pivot, and nothing else depends on it.
    """
    corner = 1e20 * (1.0 + jnp.sum(right * right))
    bordered = jnp.concatenate([jnp.pad(matrix, ((0, 0), (0, 1))), jnp.append(right, corner)[None]])
    root = cholesky(bordered)
    return root[:-1, :-1], root[-1, :-1]


@cholesky_with.defjvp
def _(primals, tangents):
    root, half = cholesky_with(*primals)
    return (root, half), (jnp.zeros_like(root), forward(root, tangents[1]))


_forward = _lane_by_lane(functools.partial(jsl.solve_triangular, lower=True), columns=True)
_backward = _lane_by_lane(functools.partial(jsl.solve_triangular, lower=True, trans=1), columns=True)


def forward(lower, right):
    """lower^-1 right."""
    return _linear(lambda x: jnp.tril(lower) @ x, right, _forward, _backward, lower)


def backward(lower, right):
    """lower^-T right."""
    return _linear(lambda x: jnp.tril(lower).T @ x, right, _backward, _forward, lower)


def _linear(product, right, solve, transposed, factor):
    """A solution with a factor at hand; its derivatives are those of `product` (rules for `vmap` have none)."""
    factor = jax.lax.stop_gradient(factor)
    return jax.lax.custom_linear_solve(
        product, right, lambda _, b: solve(factor, b), lambda _, b: transposed(factor, b)
    )


@_lane_by_lane
def lu(matrix):
    """Factors for `lu_solve`: L and U in one matrix, and the order of the rows."""
    factors, _, order = jax.lax.linalg.lu(matrix)
    return factors, order


def _solve(factor, right):
    factors, order = factor
    half = jsl.solve_triangular(factors, right[order], lower=True, unit_diagonal=True)
    return jsl.solve_triangular(factors, half)


def _solve_transposed(factor, right):
    factors, order = factor
    half = jsl.solve_triangular(factors, right, trans=1)
    return (
        jnp.zeros_like(half).at[order].set(jsl.solve_triangular(factors, half, lower=True, unit_diagonal=True, trans=1))
    )


lu_solve = _lane_by_lane(_solve, columns=True)
_lu_solve_transposed = _lane_by_lane(_solve_transposed, columns=True)


def solver(matrix):
    """`solve(right)`: matrix^-1 right, one factorisation for all; derivatives of both modes and any order."""
    factor = jax.lax.stop_gradient(lu(jax.lax.stop_gradient(matrix)))
    return lambda right: _linear(lambda x: matrix @ x, right, lu_solve, _lu_solve_transposed, factor)


def cholesky3(matrix):
    """Lower factors of matrices (..., 3, 3) in closed form, differentiable."""
    a = jnp.sqrt(matrix[..., 0, 0])
    d, e = matrix[..., 1, 0] / a, matrix[..., 2, 0] / a
    b = jnp.sqrt(matrix[..., 1, 1] - d * d)
    f = (matrix[..., 2, 1] - d * e) / b
    c = jnp.sqrt(matrix[..., 2, 2] - e * e - f * f)
    return _lower3(a, d, b, e, f, c)


def inverse_lower3(factor):
    """Inverses of lower triangles (..., 3, 3) in closed form, differentiable."""
    a, b, c = factor[..., 0, 0], factor[..., 1, 1], factor[..., 2, 2]
    d, e, f = factor[..., 1, 0], factor[..., 2, 0], factor[..., 2, 1]
    return _lower3(1 / a, -d / (a * b), 1 / b, (d * f - b * e) / (a * b * c), -f / (b * c), 1 / c)


def _lower3(a, d, b, e, f, c):
    zero = jnp.zeros_like(a)
    return jnp.stack([jnp.stack(row, axis=-1) for row in ((a, zero, zero), (d, b, zero), (e, f, c))], axis=-2)
