"""Sweeps: variants per CPU second against peers, what devices, skew and numbers of variants cost.

`python -m experiments.benchmarks.sweeps devices|skew|memory` measures what a process of its own cannot be pinned for.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from . import planar_clearance as p2
from . import slider_crank as p1
from .timing import best_of

VARIANTS = 256
SPREAD = 0.1  # of the mass that is varied


def _ours(name):
    """Mechanism, path, times, channel and how to judge positions against converged ones."""
    import mbjax as mb

    if name == "ideal":
        return mb.library.slider_crank_3d(), "rod.mass", [0.0, *p1.TIMES], lambda x, y: np.abs(x - y)
    mechanism = mb.library.planar_slider_crank_clearance()
    return mechanism, "rod.mass", p2.TIMES, lambda x, y: np.abs(x / y - 1.0)


def _swept(name, variants, rtol, devices=None):
    """A function that runs the sweep, ready compiled."""
    import identification as ident
    import mbjax as mb

    mechanism, path, ts, _ = _ours(name)
    masses = mechanism.value(path) * np.linspace(1 - SPREAD, 1 + SPREAD, variants)

    def run():
        return ident.sweep(
            mechanism, {path: masses}, [], ts, channels=["slider.position.x"], steps=mb.Adaptive(rtol=rtol),
            chunk=variants, devices=devices,
        )  # fmt: skip

    return run


def measure(name, variants, limit, repeats):
    """CPU time per variant at the loosest tolerance whose largest error over all variants is within `limit`."""
    import jax

    jax.config.update("jax_enable_x64", True)
    judge = _ours(name)[3]
    exact = _swept(name, VARIANTS, 1e-12)().motions
    rtol = 1e-5
    while True:
        found = _swept(name, VARIANTS, rtol)()
        error = float(judge(found.motions, exact).max())
        if error <= limit or rtol < 1e-11:
            break
        rtol *= 0.5 if error < 4 * limit else 0.2
    run = _swept(name, variants, rtol)
    begin = time.process_time()
    run()
    first = time.process_time() - begin
    seconds, result = best_of(run, repeats)
    return {
        "setting": f"{variants} variants, rtol {rtol:.2g}, {result.steps.mean():.0f} steps",
        "error": error,
        "seconds": seconds / variants,
        "compile": first - seconds,
        "reached": error <= limit,
    }


def rollout(limit, repeats, variants=VARIANTS):
    """`mujoco.rollout` on one thread, each variant with its own model; setting as found for a single run."""
    import mujoco
    from mujoco.rollout import rollout as roll

    from . import mujoco_slider_crank as peer

    single = peer.measure("RK4", limit, 1)
    count = single["steps"] // round(p1.END / p1.STEP_UNIT)
    ratio = float(single["setting"].split("time constant ")[1].split()[0])
    compiled = peer.model("RK4", p1.STEP_UNIT / count, ratio)
    models = []
    for factor in np.linspace(1 - SPREAD, 1 + SPREAD, variants):
        model = peer.model("RK4", p1.STEP_UNIT / count, ratio)
        model.body_mass[3] = compiled.body_mass[3] * factor
        models.append(model)
    data = mujoco.MjData(compiled)
    data.qvel[:] = [p1.CRANK_SPIN[0], p1.BLOCK_VELOCITY[0], p1.ROD_SPIN[2], 0.0]
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(compiled, kind))
    mujoco.mj_getState(compiled, data, start, kind)
    states = np.zeros((variants, single["steps"], start.size))

    def run():
        roll(models, data, np.tile(start, (variants, 1)), nstep=single["steps"], skip_checks=False, state=states)

    seconds, _ = best_of(run, repeats)
    return {
        "setting": f"{variants} variants, RK4, {single['steps']} steps, one thread, all states kept",
        "error": single["error"],
        "seconds": seconds / variants,
        "reached": single["reached"],
    }


def devices(count):
    """CPU and wall time of one sweep on so many devices, and the collective operations of its program."""
    import jax

    jax.config.update("jax_num_cpu_devices", count)
    jax.config.update("jax_enable_x64", True)
    from identification.sweep import engine

    run = _swept("ideal", 2 * VARIANTS, 1e-6)
    run()
    begin, clock = time.process_time(), time.perf_counter()
    run()
    taken = {"cpu": time.process_time() - begin, "wall": time.perf_counter() - clock}
    kernel = next(iter(engine._KERNELS.values()))
    return {**taken, "collectives": collectives(kernel, 2 * VARIANTS)}


def collectives(kernel, variants):
    """Operations between devices in a sweep's compiled program."""
    import jax
    import jax.numpy as jnp

    table = jax.ShapeDtypeStruct((variants, len(kernel.task.paths)), jnp.float64)
    text = jax.jit(kernel.whole).lower(table).compile().as_text()
    words = ("all-reduce", "all-gather", "all-to-all", "collective-permute", "reduce-scatter")
    return [w for w in words if w in text]


def skew():
    """A batch of which every other variant is 50 times as long as the others, over the sum of its variants alone."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import identification as ident
    import mbjax as mb
    from identification import measure as kept

    mechanism = mb.library.pendulum()
    ts = np.linspace(0.0, 5.0, 2)
    # Steps go with the square root of gravity over length: gravity times 2500 makes a variant 50 times as hard.
    path = "gravity.acceleration.1"
    easy, hard = np.full(128, 1.0), np.full(128, 2500.0)
    mixed = np.stack([easy, hard], axis=1).reshape(-1)

    def seconds(factors):
        run = lambda: ident.sweep(  # noqa: E731
            mechanism, {path: mechanism.value(path) * factors}, [kept.Final("bob.position.x")], ts, chunk=len(factors)
        )
        run()
        return best_of(run, 3)[0]

    def alone(factor):
        """One variant on its own, many times over: small sweeps are not packed."""
        return seconds(np.full(64, factor)) / 64

    return {"batch": seconds(mixed), "sum alone": 128 * (alone(1.0) + alone(2500.0))}


def memory(variants):
    """Largest memory of a process that sweeps so many bouncing balls into files (MB)."""
    import tempfile

    import jax

    jax.config.update("jax_enable_x64", True)
    import identification as ident
    import mbjax as mb
    from identification import measure as kept

    ball = mb.library.bouncing_ball(height=0.02, interface=mb.Dry(mb.Impact(mb.Hertz(1e6), mb.Flores(0.8))))
    samples = ident.uniform({"wall.interface.normal.hysteresis.restitution": (0.3, 0.9)}, variants)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        ident.sweep(ball, samples, [kept.Final("ball.position.z")], [0.0, 0.1], out=folder, chunk=512)
        seconds = time.perf_counter() - begin
    return {"MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "wall": seconds}


def main():
    """One of the measurements that are not rows of the table; each number of devices or variants in its own process."""
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmarks.sweeps", description=main.__doc__)
    parser.add_argument("what", choices=("devices", "skew", "memory"))
    parser.add_argument("number", nargs="?", type=int)
    options = parser.parse_args()
    several = {"devices": (1, 2), "memory": (1000, 100_000)}
    if options.what in several and options.number is None:
        for number in several[options.what]:
            command = [sys.executable, "-m", "experiments.benchmarks.sweeps", options.what, str(number)]
            print(
                number, options.what, subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            )
        return
    arguments = () if options.number is None else (options.number,)
    print(json.dumps(globals()[options.what](*arguments)))


if __name__ == "__main__":
    main()
