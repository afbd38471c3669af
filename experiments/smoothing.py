"""What smoothing does: rounded onset of contact and of friction against the papers' sharp laws.

For each smoothing length or speed: the change of the largest contact force, of the motion and of its derivative.
"""

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb


def onset(study):
    """P2's slider-crank, dry, .2 turns: `smoothing` of `Impact`."""
    mechanism = mb.library.planar_slider_crank_clearance()
    system = mb.assemble(mechanism)
    state = mb.initial_state(system)
    stiffness = jnp.asarray(mechanism.value("B.interface.normal.elastic.stiffness"), dtype=float)

    @jax.jit
    def run(smoothing):
        def simulated(change):
            bound = system.bind(
                {
                    "B.interface.normal.smoothing": smoothing,
                    "B.interface.normal.elastic.stiffness": stiffness * (1 + change),
                }
            )
            run = mb.simulate(bound, state, jnp.array([0.0, 0.6e-3]), steps=mb.Adaptive(rtol=1e-10), events=20)
            return run["slider.position.x"][-1], (run["slider.position.x"][-1], run.log.peak[1], run.statistics.steps)

        return jax.jacfwd(simulated, has_aux=True)(0.0)

    slope0, (x0, peak0, steps0) = run(0.0)
    rows = [["Impact, smoothing [m]", 0.0, 0.0, 0.0, 0.0, int(steps0)]]
    for smoothing in (1e-6,) if study.quick else (1e-9, 1e-8, 1e-7, 1e-6, 1e-5):
        slope, (x, peak, steps) = run(smoothing)
        rows.append(
            [
                "Impact, smoothing [m]", smoothing, float(peak / peak0 - 1), float(abs(x - x0)) / 0.5e-3,
                float(slope / slope0 - 1), int(steps),
            ]
        )  # fmt: skip
    return rows


def friction(study):
    """A ball of 1 kg thrown along a plane, 2 contacts, sliding all the time: `speed` of `Threlfall`."""
    rows = []
    law = mb.Impact(mb.Hertz(1e6), mb.Flores(0.8))

    def run(speed):
        mechanism = mb.library.bouncing_ball(height=0.002, interface=mb.Dry(law, mb.Threlfall(0.2, speed)))
        ball = mechanism["ball"]
        thrown = mb.SpatialBody("ball", 1.0, ball.inertia, position=ball.position, velocity=(1.0, 0.1, 0.0))
        system = mb.assemble(mechanism.replace("ball", thrown))
        state = mb.initial_state(system)

        def simulated(change):
            bound = system.bind({"wall.interface.friction.coefficient": 0.2 * (1 + change)})
            run = mb.simulate(bound, state, [0.0, 0.12], steps=mb.Adaptive(rtol=1e-10))
            return run["ball.velocity.x"][-1], (
                run["ball.velocity.x"][-1],
                run["energy.dissipated"][-1],
                run.statistics,
            )

        return jax.jacfwd(simulated, has_aux=True)(0.0)

    slope0, (v0, lost0, statistics) = run(1e-5)
    rows.append(["Threlfall, speed [m/s]", 1e-5, 0.0, 0.0, 0.0, int(statistics.steps)])
    for speed in (1e-2,) if study.quick else (1e-4, 1e-3, 1e-2, 1e-1):
        slope, (v, lost, statistics) = run(speed)
        rows.append(
            [
                "Threlfall, speed [m/s]", speed, float(lost / lost0 - 1), float(abs(v - v0)) / 1.0,
                float(slope / slope0 - 1), int(statistics.steps),
            ]
        )  # fmt: skip
    return rows


def run(study):
    rows = onset(study) + friction(study)
    study.table(
        "smoothing",
        ["law", "smoothing", "change of peak force or loss", "change of motion", "change of derivative", "steps"],
        rows,
    )
    worst = max(abs(r[4]) for r in rows if np.isfinite(r[4]))
    study.say("Largest change of a derivative", f"{worst:.3g} of itself", "found")
