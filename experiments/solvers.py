"""Which solver for which model: steps, processor time, error and the error of a derivative, of four methods.

Every model runs at rtol 1e-6 and 1e-8; errors are those of one coordinate at the end against Dopri8 at 1e-12, over its
range of motion; derivatives (`Tangents`) are by the number that makes the model stiff. Times are those of the second
run, without compilation; a method that needs more than 20 000 steps has lost.
"""

import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

SOLVERS = {
    "Dopri8": diffrax.Dopri8(), "Tsit5": diffrax.Tsit5(), "Rodas4": mb.Rodas4(), "Kvaerno5": diffrax.Kvaerno5(),
}  # fmt: skip


MOST = 20_000  # steps


def rubber(stiffness):
    """P2's slider-crank with a rubber bushing for pin B: one Maxwell branch, and damping."""
    way, turn = np.array([1, 1, 1, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 1])
    branch = mb.Maxwell(2 * stiffness * way, 1e-4)
    pin = mb.Bushing(stiffness * way + 10 * turn, 2e-4 * stiffness * way + 1e-3 * turn, branches=[branch])
    return mb.library.planar_slider_crank().replace("B", pin)


# name: (mechanism, end in s, coordinate, path of the derivative)
MODELS = {
    "perfect joints (four-bar)": (mb.library.four_bar, 0.5, "rocker.position.z", "coupler.mass"),
    "clearance, dry (Hertz)": (
        mb.library.planar_slider_crank_clearance, 2.4e-3, "slider.position.x",
        "B.interface.normal.elastic.stiffness",
    ),
    "clearance, friction v1 1e-3 m/s": (
        lambda: mb.library.four_bar_clearance(friction=mb.Threlfall(0.1, 1e-3)), 0.2, "rocker.position.z",
        "joint.interface.friction.coefficient",
    ),
    "clearance, friction v1 1e-5 m/s": (
        lambda: mb.library.four_bar_clearance(friction=mb.Threlfall(0.1, 1e-5)), 0.2, "rocker.position.z",
        "joint.interface.friction.coefficient",
    ),
    "short film, settled": (mb.library.journal_bearing, 0.2, "rotor.y", "bearing.interface.film.viscosity"),
    "rubber bushing, 1e6 N/m": (lambda: rubber(1e6), 0.012, "slider.position.x", "B.branches.0.stiffness"),
    "rubber bushing, 1e9 N/m": (lambda: rubber(1e9), 0.012, "slider.position.x", "B.branches.0.stiffness"),
}  # fmt: skip


def run(study):
    rows = []
    for model in list(MODELS)[:1] if study.quick else MODELS:
        builder, end, coordinate, path = MODELS[model]
        system = mb.assemble(builder())
        state, value = mb.initial_state(system), jnp.asarray(system.mechanism.value(path), dtype=float)
        end = end * (0.1 if study.quick else 1.0)

        @mb.compiled
        def both(
            change, solver, rtol, most, system=system, state=state, value=value, path=path, end=end, name=coordinate
        ):
            def simulated(change):
                bound = system.bind({path: value * (1 + change)})
                run = mb.simulate(
                    bound, state, jnp.linspace(0.0, end, 5), solver=solver, steps=mb.Adaptive(rtol=rtol), throw=False,
                    max_steps=most,
                )  # fmt: skip
                return run[name][-1], (run[name], run.statistics, run.result.success)

            return jax.jacfwd(simulated, has_aux=True)(change)

        @mb.compiled
        def alone(solver, rtol, system=system, state=state, end=end, name=coordinate):
            run = mb.simulate(
                system, state, jnp.linspace(0.0, end, 5), solver=solver, steps=mb.Adaptive(rtol=rtol), throw=False,
                max_steps=MOST,
            )  # fmt: skip
            return run[name], run.statistics, run.result.success

        exact_slope, (exact, *_) = both(0.0, SOLVERS["Dopri8"], 1e-12, 1_000_000)
        size = float(np.ptp(exact))
        for label in list(SOLVERS)[:1] if study.quick else SOLVERS:
            for rtol in (1e-6,) if study.quick else (1e-6, 1e-8):
                found, statistics, good = alone(SOLVERS[label], rtol)
                begin = time.process_time()
                jax.block_until_ready(alone(SOLVERS[label], rtol))
                seconds = time.process_time() - begin
                slope, (_, _, both_good) = both(0.0, SOLVERS[label], rtol, MOST)
                begin = time.process_time()
                jax.block_until_ready(both(0.0, SOLVERS[label], rtol, MOST))
                rows.append(
                    [
                        model, label, rtol, int(statistics.steps), 1e3 * seconds,
                        abs(float(found[-1] - exact[-1])) / size if good else np.nan,
                        1e3 * (time.process_time() - begin),
                        abs(float(slope / exact_slope) - 1) if both_good else np.nan,
                    ]
                )  # fmt: skip
                print(f"  {model}, {label}, {rtol:g}: {int(statistics.steps)} steps", flush=True)
    study.table(
        "solvers",
        ["model", "solver", "rtol", "steps", "time [ms]", "error", "time with derivative [ms]", "error of derivative"],
        rows,
    )
    for model in dict.fromkeys(r[0] for r in rows):
        good = [r for r in rows if r[0] == model and r[2] == 1e-6 and np.isfinite(r[5])]
        best = min(good, key=lambda r: r[4])
        study.say(f"{model}, rtol 1e-6:", f"{best[1]} is the quickest, {best[4]:.3g} ms", "found")
