"""The Schur complement S = J M^-1 J^T of the constraint rows and its solution.

Jacobians are held per body and whitened (multiplied by M^-1/2), so S is a sum of small products that share a body.
The factorisation is a dense Cholesky for small systems and block-tridiagonal along chains; it is shared by the primal
and all tangents. Where a pivot is small (on a unit diagonal), rows are about to become dependent: the matrix is then
shifted by 1e-10 and the solution refined, at most five times. Measured on the N-four-bar: without this the run stops
at the flat pose at rtol 1e-12; refining at every pose cost 1.6 times the whole simulation of P1's slider-crank.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import dense

_SMALL_PIVOT = 1e-2  # square root of a pivot of the scaled matrix
SHIFT = 1e-10
_REFINED = 1e-13
_MOST_REFINEMENTS = 5


class Whitened(eqx.Module):
    """Constraint Jacobian per body and the mass matrix's inverse root."""

    slots: jax.Array  # (bodies, k, 6): rows touching each body, times M^-1/2
    extra: jax.Array  # (padded,) additions to the diagonal of S (rotor inertias, padding)


def gather_slots(layout, jacobian):
    """Row sides (rows, 2, 6) as per-body slots (bodies, k, 6)."""
    flat = jnp.concatenate([jacobian.reshape(-1, 6), np.zeros((1, 6))])
    return flat[layout.slots]


def to_rows(layout, whitened, twist):
    """J M^-1/2 x for a whitened twist (bodies, 6): one number per solver row."""
    products = (whitened.slots * twist[:, None, :]).sum(-1).reshape(-1)
    return jnp.sum(_padded(products)[layout.row_slots], axis=-1)


def to_bodies(layout, whitened, multipliers):
    """M^-1/2 J^T lambda: whitened forces (bodies, 6)."""
    return jnp.einsum("nkc,nk->nc", whitened.slots, _padded(multipliers)[layout.slot_rows])


def multiply(layout, whitened, multipliers):
    """S lambda without forming S."""
    return to_rows(layout, whitened, to_bodies(layout, whitened, multipliers)) + whitened.extra * multipliers


def _padded(flat):
    return jnp.concatenate([flat, np.zeros(1)])


class Factor(eqx.Module):
    """Scaled block-tridiagonal Cholesky factor."""

    scale: jax.Array  # (padded,) 1 / sqrt(diagonal of S)
    diagonal: jax.Array  # (blocks, size, size) lower triangular
    lower: jax.Array  # (blocks, size, size) blocks below the diagonal; that of block 0 is zero


def _scaled(layout, whitened, shift):
    """Products of the slots of each body, the diagonal blocks of S scaled to a unit diagonal and shifted, the scale."""
    pairs = _padded(jnp.einsum("nkc,nlc->nkl", whitened.slots, whitened.slots).reshape(-1))
    size = layout.size
    extra = whitened.extra.reshape(layout.blocks, size)
    diagonal = pairs[layout.diagonal[0]] + pairs[layout.diagonal[1]] + extra[:, :, None] * np.eye(size)
    square = jnp.diagonal(diagonal, axis1=-2, axis2=-1)
    scale = jax.lax.rsqrt(jnp.where(square > 0, square, 1.0))
    return pairs, diagonal * scale[:, :, None] * scale[:, None, :] + shift * np.eye(size), scale


def factorise(layout, whitened, shift=0.0):
    """The Cholesky factor of S, scaled to a unit diagonal and shifted; NaN where S is singular and the shift is 0."""
    size = layout.size
    pairs, diagonal, scale = _scaled(layout, whitened, shift)
    if layout.blocks == 1:
        return Factor(scale.reshape(-1), dense.cholesky(diagonal[0])[None], jnp.zeros((1, 0, 0)))
    below = (pairs[layout.lower[0]] + pairs[layout.lower[1]]) * scale[1:, :, None] * scale[:-1, None, :]
    below = jnp.concatenate([np.zeros((1, size, size)), below])

    def advance(previous, block):
        d, e = block
        w = dense.forward(previous, e.T).T
        factor = dense.cholesky(d - w @ w.T)
        return factor, (factor, w)

    _, (factors, lowers) = jax.lax.scan(advance, jnp.eye(size), (diagonal, below))
    return Factor(scale.reshape(-1), factors, lowers)


def back_substitute(layout, factor, right):
    """S^-1 right with the factor as it is (no refinement)."""
    scaled = (right * factor.scale).reshape(layout.blocks, layout.size)
    if layout.blocks == 1:
        root = factor.diagonal[0]
        return dense.backward(root, dense.forward(root, scaled[0])) * factor.scale

    def forward(previous, block):
        d, w, b = block
        x = dense.forward(d, b - w @ previous)
        return x, x

    zero = jnp.zeros(layout.size)
    _, half = jax.lax.scan(forward, zero, (factor.diagonal, factor.lower, scaled))
    above = jnp.concatenate([factor.lower[1:], factor.lower[:1]])  # nothing is above the last block: lower[0] = 0

    def backward(following, block):
        d, w, b = block
        x = dense.backward(d, b - following @ w)
        return x, x

    _, solution = jax.lax.scan(backward, zero, (factor.diagonal, above, half), reverse=True)
    return solution.reshape(-1) * factor.scale


def solve(layout, whitened, right):
    """S^-1 right. Derivatives of any order reuse the factorisation."""

    @jax.custom_jvp
    def solved(whitened, right):
        factor, half = factorise_with(layout, whitened, right)
        return _finish(layout, whitened, factor, right, half), factor

    @solved.defjvp
    def _(primals, tangents):
        whitened, right = primals
        solution, factor = solved(whitened, right)
        changed = jax.jvp(lambda w: multiply(layout, w, solution), (whitened,), (tangents[0],))[1]
        rate = _linear(layout, whitened, jax.lax.stop_gradient(factor), tangents[1] - changed)
        return (solution, factor), (rate, jax.tree.map(jnp.zeros_like, factor))

    return solved(whitened, right)[0]


def _linear(layout, whitened, factor, right):
    """S^-1 right with a factor at hand."""
    frozen = jax.lax.stop_gradient(whitened)
    return jax.lax.custom_linear_solve(
        lambda lam: multiply(layout, whitened, lam),
        right,
        lambda _, b: _finish(layout, frozen, factor, b),
        symmetric=True,
    )


def factorise_with(layout, whitened, right, shift=0.0):
    """The factor, and L^-1 of the scaled right side (None along chains) for `second_half`."""
    if layout.blocks > 1:
        return factorise(layout, whitened, shift), None
    _, matrix, scale = _scaled(layout, whitened, shift)
    scale = scale.reshape(-1)
    root, half = dense.cholesky_with(matrix[0], right * scale)
    return Factor(scale, root[None], jnp.zeros((1, 0, 0))), half


def second_half(layout, factor, right, half):
    """What `factorise_with` has begun: S^-1 right with the factor as it is."""
    if half is None:
        return back_substitute(layout, factor, right)
    return dense.backward(factor.diagonal[0], half) * factor.scale


def _finish(layout, whitened, factor, right, half=None):
    """S^-1 right; refined where a pivot is small."""
    pivots = jnp.diagonal(factor.diagonal, axis1=-2, axis2=-1)
    singular = ~(jnp.min(pivots, initial=1.0) > _SMALL_PIVOT)

    def refined(right):
        allowed = _REFINED * jnp.max(jnp.abs(right))

        def better(carry):
            x, _, k = carry
            rest = right - multiply(layout, whitened, x)
            # Made anew in each of the few rounds: kept outside the loop it would cost every ordinary pose.
            shifted = factorise(layout, whitened, SHIFT)
            return x + back_substitute(layout, shifted, rest), jnp.max(jnp.abs(rest)), k + 1

        def unfinished(carry):
            _, size, k = carry
            return singular & (size > allowed) & (k <= _MOST_REFINEMENTS)

        return jax.lax.while_loop(unfinished, better, (jnp.zeros_like(right), jnp.array(jnp.inf), 0))[0]

    return jax.lax.cond(singular, refined, lambda right: second_half(layout, factor, right, half), right)
