"""mbjax on mechanisms with clearance: equal error, what watching a contact costs per step, and sensitivities."""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from . import four_bar_clearance as p3
from . import planar_clearance as p2
from .mbjax_cases import SOLVERS
from .timing import Search, best_of

PARAMETERS = (
    "B.interface.normal.elastic.stiffness",
    "B.interface.normal.hysteresis.restitution",
    "B.pair.clearance",
    "slider.mass",
)
FLIGHT = (2e-4, 1e-7)  # s: an end before the first touch (0.227 ms), and equal steps


def _at_equal_error(system, numbers, read, error, solver, limit, repeats):
    """The fastest tolerance whose error is within `limit`; compile time is the first call less a later one."""
    state = jax.block_until_ready(mb.initial_state(system))

    def run(effort):
        steps = mb.Adaptive(rtol=1.0 / effort)
        return jax.block_until_ready(mb.simulate(system, state, numbers.TIMES, solver=SOLVERS[solver](), steps=steps))

    begin = time.process_time()
    run(1e5)
    first = time.process_time() - begin
    again, _ = best_of(lambda: run(1e5), repeats)
    search = Search(lambda effort: error(read(run(effort))), limit, numbers.CONFIRM)
    effort, reached = search.run(1e3, 1e11, factor=10.0)
    seconds, trajectory = best_of(lambda: run(effort), repeats)
    statistics = trajectory.statistics
    return {
        "setting": f"rtol {1 / effort:.2g}, {int(statistics.accepted)} steps and {int(statistics.rejected)} rejected",
        "error": error(read(trajectory)),
        "seconds": seconds,
        "compile": first - again,
        "steps": int(statistics.steps),
        "evaluations": int(statistics.evaluations),
        "reached": reached,
    }


def planar(solver, limit, repeats):
    """P2's slider-crank with clearance, slider position to 0.9 revolution."""
    system = mb.assemble(mb.library.planar_slider_crank_clearance())
    return _at_equal_error(system, p2, lambda x: x["slider.position.x"], p2.error, solver, limit, repeats)


def four_bar(solver, limit, repeats):
    """P3's four-bar with spherical clearance and Threlfall friction, against its own converged run."""
    system = mb.assemble(mb.library.four_bar_clearance(friction=mb.Threlfall(p3.FRICTION, p3.SLOPE)))

    def positions(trajectory):
        return np.asarray(trajectory.states.q.position)[:, 1:].reshape(-1, 6)

    @functools.cache
    def expected():
        state = mb.initial_state(system)
        return positions(mb.simulate(system, state, p3.TIMES, steps=mb.Adaptive(rtol=1e-11)))

    return _at_equal_error(system, p3, positions, lambda x: p3.error(x, expected()), solver, limit, repeats)


def free_flight(watched, repeats):
    """CPU time of a step (s) before the first touch, with the clearance or with nothing at all in pin B."""
    mechanism = mb.library.planar_slider_crank_clearance()
    system = mb.assemble(mechanism if watched else mechanism.replace("B", mb.Free()))
    state = jax.block_until_ready(mb.initial_state(system))
    end, step = FLIGHT

    def run():
        return jax.block_until_ready(mb.simulate(system, state, [0.0, end], steps=mb.Fixed(step)))

    begin = time.process_time()
    run()
    first = time.process_time() - begin
    seconds, trajectory = best_of(run, repeats)
    steps = int(trajectory.statistics.steps)
    return {
        "setting": f"{steps} steps, rod turned to {float(trajectory['rod.angle'][-1]):.9f} rad",
        "seconds": seconds / steps,
        "compile": first - seconds,
    }


def sensitivities(adjoint, repeats, rtol=1e-7):
    """P2's run (`adjoint` None), or its Jacobian by four parameters."""
    system = mb.assemble(mb.library.planar_slider_crank_clearance())
    state = jax.block_until_ready(mb.initial_state(system))
    at = jnp.array([float(system.mechanism.value(name)) for name in PARAMETERS])

    def positions(parameters):
        bound = system.bind(dict(zip(PARAMETERS, parameters, strict=True)))
        how = None if adjoint is None else getattr(mb, adjoint)()
        trajectory = mb.simulate(bound, state, p2.TIMES, steps=mb.Adaptive(rtol=rtol), adjoint=how)
        return trajectory["slider.position.x"], trajectory.statistics

    function = positions if adjoint is None else jax.jacfwd(positions, has_aux=True)
    compiled = mb.compiled(function)

    def run():
        return jax.block_until_ready(compiled(at))

    begin = time.process_time()
    run()
    first = time.process_time() - begin
    seconds, (found, _) = best_of(run, repeats)
    size = "" if adjoint is None else f", |dx/dp p| up to {float(jnp.max(jnp.abs(found * at))):.2g} m"
    return {"setting": f"Dopri8, rtol {rtol:g}{size}", "seconds": seconds, "compile": first - seconds}
