"""One step of an explicit Runge-Kutta method, from diffrax's tableau, as a `lax.scan` over the stages.

The same numbers as diffrax's own step; written again because a scan is differentiable in both directions at once
(diffrax's stage loop has to be told which), and compiles faster. The last slope of a step is not reused for the next
one: the projection in between moves the state, and a second copy of the right-hand side costs more compile time than
the saved evaluation is worth.
"""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def is_explicit(solver):
    return isinstance(solver, diffrax.AbstractERK) and isinstance(solver.tableau, diffrax.ButcherTableau)


def stages_of(tableau):
    """Stages that the solution, the error or other stages use: Dopri8's last one serves only the next step."""
    return int(np.flatnonzero((tableau.b_sol != 0) | (tableau.b_error != 0))[-1]) + 1


def explicit_step(tableau, flow, t0, t1, y0, args, bend):
    """`(y1, error)`. Time runs through the step as t0 + h x (1 - bend + bend x), and x from 0 to 1 is what the method
    sees: evenly with `bend` 0, like the square of what passed since the beginning with 1, to the end with -1."""
    h = t1 - t0
    stages = stages_of(tableau)
    lower = np.zeros((stages, stages))
    for i, row in enumerate(tableau.a_lower[: stages - 1]):
        lower[i + 1, : i + 1] = row

    def stage(slopes, row):
        a, c, i = row
        slope = flow(t0 + h * c * (1 - bend + bend * c), y0 + h * (a @ slopes), args)
        return slopes.at[i].set((1 - bend + 2 * bend * c) * slope), None

    rows = (jnp.asarray(lower), jnp.concatenate([np.zeros(1), tableau.c[: stages - 1]]), jnp.arange(stages))
    slopes, _ = jax.lax.scan(stage, jnp.zeros((stages, y0.shape[0])), rows)
    weights, errors = tableau.b_sol[:stages], tableau.b_error[:stages]
    return y0 + h * (jnp.asarray(weights) @ slopes), h * (jnp.asarray(errors) @ slopes)
