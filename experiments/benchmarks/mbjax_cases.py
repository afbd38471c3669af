"""mbjax: the ideal slider-crank at the error of its peers, the right-hand side of chains, compile times."""

import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from . import slider_crank as p1
from .timing import Search, best_of

jax.config.update("jax_enable_x64", True)

# The first 4, 8 or 16 of these are what derivatives are asked by.
PARAMETERS = (
    "rod.mass", "slider.mass", "crank.inertia.2.2", "rod.inertia.1.1", "crank.mass", "rod.inertia.0.0",
    "rod.inertia.2.2", "slider.inertia.0.0", "slider.inertia.1.1", "slider.inertia.2.2", "crank.inertia.0.0",
    "crank.inertia.1.1", "gravity.acceleration.z", "gravity.acceleration.x", "gravity.acceleration.y",
    "crank.velocity.x",
)  # fmt: skip
SOLVERS = {"Tsit5": diffrax.Tsit5, "Dopri8": diffrax.Dopri8}


def _assembled(builder, number=None):
    """System, consistent state and the CPU time (s) of both."""
    begin = time.process_time()
    build = getattr(mb.library, builder)
    system = mb.assemble(build() if number is None else build(number))
    state = jax.block_until_ready(mb.initial_state(system))
    return system, state, time.process_time() - begin


def slider_crank(solver, limit, repeats):
    """The fastest tolerance whose error is within `limit`; compile time is the first call less a later one."""
    system, state, preparation = _assembled("slider_crank_3d")
    ts = [0.0, *p1.TIMES]

    def run(effort):
        steps = mb.Adaptive(rtol=1.0 / effort)
        return jax.block_until_ready(mb.simulate(system, state, ts, solver=SOLVERS[solver](), steps=steps))

    def error_at(effort):
        return p1.error(run(effort)["slider.position.x"][1:])

    begin = time.process_time()
    run(1e3)
    first = time.process_time() - begin
    again, _ = best_of(lambda: run(1e3), repeats)
    # Up to ten times tighter: at order 8 about the 1.5 times more steps that confirm a fixed step.
    search = Search(error_at, limit, confirm=(1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0))
    effort, reached = search.run(1e3, 1e11, factor=10.0)
    seconds, trajectory = best_of(lambda: run(effort), repeats)
    return {
        "setting": f"rtol {1 / effort:.2g}, {int(trajectory.statistics.steps)} steps",
        "error": error_at(effort),
        "seconds": seconds,
        "compile": first - again,
        "preparation": preparation,
        "steps": int(trajectory.statistics.steps),
        "evaluations": int(trajectory.statistics.evaluations),
        "reached": reached,
    }


def gradient(adjoint, count, repeats, rtol=None, limit=None):
    """The slider's positions and (unless `adjoint` is None) their Jacobian by `count` parameters: at a tolerance, or
    at the fastest one whose positions are within `limit` and derivatives by the masses within `p1.SLOPE_LIMIT`."""
    system, state, preparation = _assembled("slider_crank_3d")
    names = PARAMETERS[:count]
    at = jnp.array([float(system.mechanism.value(name)) for name in names])

    def positions(parameters, rtol):
        bound = system.bind(dict(zip(names, parameters, strict=True)))
        how = None if adjoint is None else getattr(mb, adjoint)()
        steps = mb.Adaptive(rtol=rtol)
        trajectory = mb.simulate(bound, state, [0.0, *p1.TIMES], steps=steps, adjoint=how, throw=False)
        found = trajectory["slider.position.x"][1:]
        return found, (found, trajectory.statistics.steps)

    compiled = mb.compiled(positions if adjoint is None else jax.jacfwd(positions, has_aux=True))

    def run(effort):
        return jax.block_until_ready(compiled(at, jnp.array(1.0 / effort)))

    def slope_error(found):
        return p1.slope_error((found[0] * at)[:, :2])

    def error_at(effort):
        found = run(effort)
        return max(p1.error(found[1][0]) / limit, slope_error(found) / p1.SLOPE_LIMIT)

    begin = time.process_time()
    run(1e3)
    first = time.process_time() - begin
    again, _ = best_of(lambda: run(1e3), repeats)
    effort, reached = (1 / rtol, True) if rtol else Search(error_at, 1.0).run(1e3, 1e11)
    seconds, found = best_of(lambda: run(effort), max(repeats, 20))
    slopes = "" if adjoint is None else f", derivatives to {slope_error(found):.1g} m"
    return {
        "setting": f"rtol {1 / effort:.2g}, {int(found[1][1])} steps{slopes}",
        "error": p1.error(found[1][0]),
        "seconds": seconds,
        "compile": first - again,
        "preparation": preparation,
        "reached": reached,
    }


def right_hand_side(builder, number=None, evaluations=1000, repeats=3):
    """CPU time of one right-hand side (s) inside a compiled loop, and its compile time."""
    from mbjax.stepping.flow import pack
    from mbjax.stepping.loop import Method

    system, state, preparation = _assembled(builder, number)
    method = Method(system.structure, diffrax.Dopri8(), mb.Adaptive(), mb.Projection(), 1000)
    flow = method.flow
    y0 = pack(system.structure, state)

    @jax.jit
    def loop(model, memory, y0):
        # Each evaluation needs the one before; the state stays where it is.
        return jax.lax.fori_loop(0, evaluations, lambda k, y: y0 + 1e-30 * flow(0.0, y, (model, memory)), y0)

    begin = time.process_time()
    compiled = loop.lower(system.model, state.memory, y0).compile()
    compile_time = time.process_time() - begin
    call = lambda: jax.block_until_ready(compiled(system.model, state.memory, y0))  # noqa: E731
    call()
    seconds, y = best_of(call, repeats)
    return {
        "setting": f"{y0.shape[0]} states, {evaluations} evaluations",
        "seconds": seconds / evaluations,
        "compile": compile_time,
        "preparation": preparation,
        "finite": bool(np.all(np.isfinite(np.asarray(y)))),
    }


def compilation(builder, number=None, solver="Dopri8", span=1e-2, repeats=3):
    """Compile time (s) of a short simulation: the first call less a later one."""
    system, state, preparation = _assembled(builder, number)
    ts = jnp.array([0.0, span])

    def run():
        trajectory = mb.simulate(system, state, ts, solver=SOLVERS[solver](), throw=False)
        return jax.block_until_ready(trajectory)

    begin = time.process_time()
    run()
    first = time.process_time() - begin
    seconds, trajectory = best_of(run, repeats)
    return {
        "setting": f"{solver}, {span:g} s, {int(trajectory.statistics.steps)} steps, {trajectory.result.message}",
        "seconds": seconds,
        "compile": first - seconds,
        "preparation": preparation,
    }
