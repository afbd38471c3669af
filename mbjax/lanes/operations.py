"""Rules of single operations: `rule(step, values, laned, lanes)` is the operation `step` of one lane on arrays of which
some have lanes as their last axis; all results have."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

_ELEMENTWISE = """
abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp clz conj convert_element_type copy cos cosh
div eq erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le lgamma log log1p logistic lt max min
mul ne neg nextafter not or pow real reduce_precision rem round rsqrt select_n shift_left shift_right_arithmetic
shift_right_logical sign sin sinh sqrt square stop_gradient sub tan tanh xor
"""
_SAME_AXES = """
argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce_and reduce_max reduce_min reduce_or reduce_prod
reduce_sum rev
"""
FACTORISATIONS = ("eig", "eigh", "geqrf", "householder_product", "lu", "qr", "schur", "svd", "tridiagonal_solve")
LARGEST_UNROLLED = 24  # rows of a matrix that is factorised operation by operation
_LONGEST_UNROLLED = 8  # terms of a product that are added one by one


def wide(x, has, lanes):
    """With lanes, whether it has them or is shared."""
    return x if has else jnp.broadcast_to(jnp.asarray(x)[..., None], (*jnp.shape(x), lanes))


def all_wide(values, laned, lanes):
    return [wide(x, has, lanes) for x, has in zip(values, laned, strict=True)]


def otherwise(step, values, laned, lanes):
    """By `jax.vmap`, which knows every operation."""
    del lanes
    axes = [-1 if has else None for has in laned]
    bind = functools.partial(step.primitive.bind, **step.primitive.get_bind_params(step.params))
    return jax.vmap(bind, in_axes=axes, out_axes=-1)(*values)


def same_axes(step, values, laned, lanes):
    """What works along axes that are counted from the front does the same with one more behind."""
    return step.primitive.bind(*values, **step.params)


# --- operations on single numbers, and on their places ----------------------------------------------------------------


def elementwise(step, values, laned, lanes):
    shape = (*step.outvars[0].aval.shape, lanes)
    choice = step.primitive.name == "select_n"

    def fit(k, x, has):
        if choice and k == 0 and not has and not x.ndim:
            return x
        axes = range(len(shape) - x.ndim, len(shape)) if has else range(x.ndim)
        return x if x.shape == shape else lax.broadcast_in_dim(x, shape, tuple(axes))

    fitted = [fit(k, x, has) for k, (x, has) in enumerate(zip(values, laned, strict=True))]
    return step.primitive.bind(*fitted, **step.params)


def broadcast_in_dim(step, values, laned, lanes):
    shape = step.params["shape"]
    axes = (*step.params["broadcast_dimensions"], len(shape))
    return lax.broadcast_in_dim(values[0], (*shape, lanes), axes)


def reshape(step, values, laned, lanes):
    return lax.reshape(values[0], (*step.params["new_sizes"], lanes))


def squeeze(step, values, laned, lanes):
    return lax.reshape(values[0], (*step.outvars[0].aval.shape, lanes))


def transpose(step, values, laned, lanes):
    return lax.transpose(values[0], (*step.params["permutation"], values[0].ndim - 1))


def cut(step, values, laned, lanes):
    strides = step.params["strides"]
    return lax.slice(
        values[0], (*step.params["start_indices"], 0), (*step.params["limit_indices"], lanes),
        None if strides is None else (*strides, 1),
    )  # fmt: skip


def pad(step, values, laned, lanes):
    if laned[1]:
        return otherwise(step, values, laned, lanes)
    return lax.pad(values[0], values[1], (*step.params["padding_config"], (0, 0, 0)))


def concatenate(step, values, laned, lanes):
    return lax.concatenate(all_wide(values, laned, lanes), step.params["dimension"])


def stack(step, values, laned, lanes):
    return step.primitive.bind(*all_wide(values, laned, lanes), **step.params)


def split(step, values, laned, lanes):
    return step.primitive.bind(*values, **step.params)


# --- places that are looked up ----------------------------------------------------------------------------------------


def _lookup(indices, laned, both):
    """Indices with lanes as their last batch axis; with `both`, the lane's own number as one more index."""
    if not laned:
        return indices
    indices = jnp.moveaxis(indices, -1, -2)
    if not both:
        return indices
    own = lax.broadcasted_iota(indices.dtype, (*indices.shape[:-1], 1), indices.ndim - 2)
    return jnp.concatenate([indices, own], axis=-1)


def gather(step, values, laned, lanes):
    (x, indices), p, n = values, step.params, step.params["dimension_numbers"]
    offsets, collapsed, places, sizes = n.offset_dims, n.collapsed_slice_dims, n.start_index_map, p["slice_sizes"]
    if laned[0] and not laned[1]:
        offsets, sizes = (*offsets, len(step.outvars[0].aval.shape)), (*sizes, lanes)
    elif laned[0]:
        collapsed, places, sizes = (*collapsed, x.ndim - 1), (*places, x.ndim - 1), (*sizes, 1)
    return lax.gather(
        x, _lookup(indices, laned[1], laned[0]),
        lax.GatherDimensionNumbers(
            offsets, collapsed, places, n.operand_batching_dims, n.start_indices_batching_dims
        ),
        sizes, indices_are_sorted=False, unique_indices=p["unique_indices"], mode=p["mode"],
        fill_value=p["fill_value"],
    )  # fmt: skip


def scatter(step, values, laned, lanes):
    x, indices, updates = values
    p, n = step.params, step.params["dimension_numbers"]
    x, updates = wide(x, laned[0], lanes), wide(updates, laned[2], lanes)
    window, inserted, places = n.update_window_dims, n.inserted_window_dims, n.scatter_dims_to_operand_dims
    if laned[1]:
        inserted, places = (*inserted, x.ndim - 1), (*places, x.ndim - 1)
    else:
        window = (*window, updates.ndim - 1)
    numbers = lax.ScatterDimensionNumbers(
        window, inserted, places, n.operand_batching_dims, n.scatter_indices_batching_dims
    )
    function = lax.scatter if step.primitive.name == "scatter" else lax.scatter_add
    return function(
        x, _lookup(indices, laned[1], True), updates, numbers, indices_are_sorted=False,
        unique_indices=p["unique_indices"], mode=p["mode"],
    )  # fmt: skip


def dynamic_slice(step, values, laned, lanes):
    x, *starts = values
    if any(laned[1:]):
        return otherwise(step, values, laned, lanes)
    zero = jnp.zeros((), starts[0].dtype)
    return lax.dynamic_slice(x, (*starts, zero), (*step.params["slice_sizes"], lanes))


def dynamic_update_slice(step, values, laned, lanes):
    x, update, *starts = values
    if any(laned[2:]):
        return otherwise(step, values, laned, lanes)
    zero = jnp.zeros((), starts[0].dtype)
    return lax.dynamic_update_slice(wide(x, laned[0], lanes), wide(update, laned[1], lanes), (*starts, zero))


# --- products and small factorisations --------------------------------------------------------------------------------


def dot_general(step, values, laned, lanes):
    (sum_a, sum_b), (batch_a, batch_b) = step.params["dimension_numbers"]
    a, b = (x if has else x[..., None] for x, has in zip(values, laned, strict=True))
    free_a = [d for d in range(a.ndim - 1) if d not in (*sum_a, *batch_a)]
    free_b = [d for d in range(b.ndim - 1) if d not in (*sum_b, *batch_b)]
    # Batch axes, free axes of either, summed axes, lanes.
    a = lax.transpose(a, (*batch_a, *free_a, *sum_a, a.ndim - 1))
    b = lax.transpose(b, (*batch_b, *free_b, *sum_b, b.ndim - 1))
    batch, free = len(batch_a), len(free_a)
    a = lax.expand_dims(a, range(batch + free, batch + free + len(free_b)))
    b = lax.expand_dims(b, range(batch, batch + free))
    if len(sum_a) == 1 and a.shape[-2] <= _LONGEST_UNROLLED:
        out = jnp.zeros((*step.outvars[0].aval.shape, lanes), step.outvars[0].aval.dtype)
        for k in range(a.shape[-2]):
            term = a[..., k, :] * b[..., k, :]
            out = term if k == 0 else out + term
    else:
        out = jnp.sum(a * b, axis=tuple(range(-1 - len(sum_a), -1)))
    return jnp.broadcast_to(out, (*step.outvars[0].aval.shape, lanes))


def cholesky(step, values, laned, lanes):
    if values[0].ndim != 3 or values[0].shape[0] > LARGEST_UNROLLED:
        return otherwise(step, values, laned, lanes)
    matrix, columns = values[0], []
    for j in range(matrix.shape[0]):
        column = matrix[j:, j]
        for k, done in enumerate(columns):
            column = column - done[j - k :] * done[j - k]
        columns.append(column * lax.rsqrt(column[0]))
    return jnp.stack([jnp.pad(c, ((k, 0), (0, 0))) for k, c in enumerate(columns)], axis=1)


def triangular_solve(step, values, laned, lanes):
    (matrix, right), p = values, step.params
    if not laned[0] and matrix.ndim == 2 and p["left_side"]:
        flat = right.reshape(right.shape[0], -1)
        return step.primitive.bind(matrix, flat, **p).reshape(right.shape)
    if matrix.ndim != 3 or matrix.shape[0] > LARGEST_UNROLLED or not p["left_side"] or not laned[0]:
        return otherwise(step, values, laned, lanes)
    rest, rows = wide(right, laned[1], lanes), matrix.shape[0]
    if p["transpose_a"]:
        matrix = jnp.swapaxes(matrix, 0, 1)
    down = p["lower"] != p["transpose_a"]
    solution = [None] * rows
    for j in range(rows) if down else reversed(range(rows)):
        solution[j] = rest[j] if p["unit_diagonal"] else rest[j] / matrix[j, j]
        rest = rest - matrix[:, j, None] * solution[j]
    return jnp.stack(solution)


RULES = (
    dict.fromkeys(_ELEMENTWISE.split(), elementwise)
    | dict.fromkeys(_SAME_AXES.split(), same_axes)
    | {
        "broadcast_in_dim": broadcast_in_dim,
        "reshape": reshape,
        "squeeze": squeeze,
        "transpose": transpose,
        "slice": cut,
        "pad": pad,
        "concatenate": concatenate,
        "stack": stack,
        "split": split,
        "gather": gather,
        "scatter": scatter,
        "scatter-add": scatter,
        "dynamic_slice": dynamic_slice,
        "dynamic_update_slice": dynamic_update_slice,
        "dot_general": dot_general,
        "cholesky": cholesky,
        "triangular_solve": triangular_solve,
    }
)
