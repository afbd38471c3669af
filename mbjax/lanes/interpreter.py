"""Does a traced program in lanes."""

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Literal

from .operations import RULES, all_wide, otherwise, wide
from .spread import arguments_of_solve, of_branches, of_loop, of_scan, program_of, unrollable

IDLE = "mbjax_loop_that_idles_when_done"  # name of the function around such a loop


class Interpreter(eqx.Module):
    """Values go in pairs with whether they have lanes.

    Small factorisations are done operation by operation, but in loops within branches (refinements, which are rare)
    lane by lane by the linear algebra library, which compiles faster.
    """

    lanes: int
    in_branch: bool = False
    unroll: bool = True

    def closed(self, program, values, laned, idle=False):
        """Outputs of a program, and which have lanes."""
        known = {v: (x, False) for v, x in zip(program.jaxpr.constvars, program.consts, strict=True)}
        known |= {v: (x, has) for v, x, has in zip(program.jaxpr.invars, values, laned, strict=True)}

        def read(v):
            return (jnp.asarray(v.val, v.aval.dtype), False) if isinstance(v, Literal) else known[v]

        for step in program.jaxpr.eqns:
            pairs = [read(v) for v in step.invars]
            outs = self._operation(step, [x for x, _ in pairs], [has for _, has in pairs], idle)
            known |= dict(zip(step.outvars, zip(*outs, strict=True), strict=True))
        pairs = [read(v) for v in program.jaxpr.outvars]
        return [x for x, _ in pairs], [has for _, has in pairs]

    def _as(self, found, has):
        """Values and their lanes, laid out in lanes where `has` says so."""
        return [wide(x, f, self.lanes) if h else x for x, f, h in zip(*found, has, strict=True)]

    def _operation(self, step, values, laned, idle):
        name, params = step.primitive.name, step.params
        inner = program_of(step)
        if inner is not None and (any(laned) or name == "jit"):
            return self.closed(inner, values, laned, params.get("name") == IDLE)
        if not any(laned):
            out = step.primitive.bind(*values, **step.primitive.get_bind_params(params))
        elif name == "cond":
            return self._cond(params, values, laned)
        elif name == "while":
            return self._loop(params, values, laned, idle)
        elif name == "scan":
            return self._scan(params, values, laned)
        elif name == "custom_linear_solve":
            given = arguments_of_solve(params, values), arguments_of_solve(params, laned)
            return self.closed(params["jaxprs"].solve, *given)
        elif name == "custom_vmap_call" and self.unroll and unrollable(params["call"].jaxpr):
            out = all_wide(*self.closed(params["call"], values, laned), self.lanes)
        else:
            out = RULES.get(name, otherwise)(step, values, laned, self.lanes)
        out = out if step.primitive.multiple_results else [out]
        return out, [any(laned)] * len(out)

    def _cond(self, params, values, laned):
        which, *operands = values
        has, branches = of_branches(params, laned), params["branches"]
        within = Interpreter(self.lanes, True, self.unroll)

        def branch(k):
            return lambda *operands: self._as(within.closed(branches[k], operands, laned[1:]), has)

        if not laned[0]:
            return lax.switch(which, [branch(k) for k in range(len(branches))], *operands), has
        which = jnp.clip(which.astype(int), 0, len(branches) - 1)
        out = None

        def nothing(*operands):
            return [jnp.zeros((*x.shape, self.lanes), x.dtype) for x in branches[0].out_avals]

        for k in range(len(branches)):
            # A branch that no lane takes costs nothing.
            wanted = which == k
            found = lax.cond(jnp.any(wanted), branch(k), nothing, *operands)
            out = found if out is None else [_choose(wanted, x, y) for x, y in zip(found, out, strict=True)]
        return out, has

    def _loop(self, params, values, laned, idle):
        a, b = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        has, each = of_loop(params, laned)
        carry = self._as((values[b:], laned[b:]), has)
        within = Interpreter(self.lanes, self.in_branch, self.unroll and not self.in_branch)

        def unfinished(carry):
            found = within.closed(params["cond_jaxpr"], [*values[:a], *carry], [*laned[:a], *has])
            return self._as(found, [each])[0]

        def advance(carry):
            return self._as(within.closed(params["body_jaxpr"], [*values[a:b], *carry], [*laned[a:b], *has]), has)

        if not each:
            return lax.while_loop(unfinished, advance, carry), has

        def guarded(state):
            active, carry = state
            new = advance(carry)
            if not idle:
                new = [_choose(active, x, y) for x, y in zip(new, carry, strict=True)]
            return unfinished(new), new

        return lax.while_loop(lambda s: jnp.any(s[0]), guarded, (unfinished(carry), carry))[1], has

    def _scan(self, params, values, laned):
        a, b = params["num_consts"], params["num_consts"] + params["num_carry"]
        every = of_scan(params, laned)
        has, count = every[: b - a], b - a

        def advance(carry, x):
            given = [*values[:a], *carry, *x], [*laned[:a], *has, *laned[b:]]
            out = self._as(self.closed(params["jaxpr"], *given), every)
            return out[:count], out[count:]

        carry, ys = lax.scan(
            advance, self._as((values[a:b], laned[a:b]), has), values[b:], length=params["length"],
            reverse=params["reverse"], unroll=params["unroll"],
        )  # fmt: skip
        return [*carry, *ys], every


def _choose(which, new, old):
    """`new` where `which`; arrays have lanes last, and first the axes that `which` has before its lanes."""
    axes = (*range(which.ndim - 1), new.ndim - 1)
    return lax.select(lax.broadcast_in_dim(which, new.shape, axes), new, old)
