"""What a traced program is made of, and which of its results have lanes."""

from jax.extend.core import Literal

from .operations import FACTORISATIONS, LARGEST_UNROLLED


def program_of(step):
    """The program of an operation that is nothing but a program, else None."""
    name, params = step.primitive.name, step.params
    if name in ("jit", "pjit", "closed_call"):
        return params["jaxpr"]
    return params["call_jaxpr"] if name == "custom_jvp_call" else None


def unrollable(jaxpr):
    """Whether a factorisation with a rule of its own for `vmap` is better done operation by operation."""
    for step in jaxpr.eqns:
        inner = program_of(step)
        if (inner is not None and not unrollable(inner.jaxpr)) or step.primitive.name in FACTORISATIONS:
            return False
        if step.primitive.name in ("cholesky", "triangular_solve"):
            shape = step.invars[0].aval.shape
            if len(shape) != 2 or shape[0] > LARGEST_UNROLLED:
                return False
    return True


def spread(jaxpr, laned):
    """Which outputs of a program have lanes if these inputs have."""
    known = dict(zip(jaxpr.invars, laned, strict=True))

    def read(v):
        return not isinstance(v, Literal) and known.get(v, False)

    for step in jaxpr.eqns:
        known |= dict(zip(step.outvars, _of_operation(step, [read(v) for v in step.invars]), strict=True))
    return [read(v) for v in jaxpr.outvars]


def _of_operation(step, laned):
    if not any(laned):
        return [False] * len(step.outvars)
    name, params = step.primitive.name, step.params
    inner = program_of(step)
    if inner is not None:
        return spread(inner.jaxpr, laned)
    if name == "cond":
        return of_branches(params, laned)
    if name == "while":
        return of_loop(params, laned)[0]
    if name == "scan":
        return of_scan(params, laned)
    if name == "custom_linear_solve":
        return spread(params["jaxprs"].solve.jaxpr, arguments_of_solve(params, laned))
    return [True] * len(step.outvars)


def of_branches(params, laned):
    """Outputs of a `cond`."""
    each = zip(*(spread(b.jaxpr, laned[1:]) for b in params["branches"]), strict=True)
    return [laned[0] or any(x) for x in each]


def of_loop(params, laned):
    """What a `while` carries, and whether lanes leave it at different times."""
    a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    condition, body, has = params["cond_jaxpr"], params["body_jaxpr"], list(laned[b:])
    while True:
        # After `jax.vmap` a condition can have axes of its own.
        each = bool(condition.out_avals[0].shape) or spread(condition.jaxpr, [*laned[:a], *has])[0]
        found = spread(body.jaxpr, [*laned[a:b], *has])
        wider = [each or x or y for x, y in zip(has, found, strict=True)]
        if wider == has:
            return has, each
        has = wider


def of_scan(params, laned):
    """What a `scan` carries, and its outputs."""
    a, b = params["num_consts"], params["num_consts"] + params["num_carry"]
    has = list(laned[a:b])
    while True:
        found = spread(params["jaxpr"].jaxpr, [*laned[:a], *has, *laned[b:]])
        wider = [x or y for x, y in zip(has, found, strict=False)]
        if wider == has:
            return [*has, *found[len(has) :]]
        has = wider


def arguments_of_solve(params, values):
    """Those operands of a `custom_linear_solve` that its solution needs."""
    given = params["const_lengths"]
    first = given.matvec + given.vecmat
    return [*values[first : first + given.solve], *values[first + given.solve + given.transpose_solve :]]
