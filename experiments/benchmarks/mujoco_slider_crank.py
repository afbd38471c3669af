"""MuJoCo on the ideal slider-crank: slider, universal joint and rod in one branch, closed to the crank by `connect`.

The loop closure is MuJoCo's own soft constraint, as stiff as it allows: `solimp` at its largest value and a time
constant of `ratio` steps. The branch has exactly the coordinates of the mechanism, so only three rows are soft.
"""

import mujoco
import numpy as np

from . import slider_crank as p1
from .timing import Search, best_of

HARDEST = 0.9999  # MuJoCo's largest impedance
# Warnings of unstable trials would be printed and logged to a file in the working directory.
mujoco.set_mju_user_warning(lambda message: None)
UNUSED = "contact limit frictionloss actuation sensor island midphase nativeccd clampctrl"

MODEL = """<mujoco><compiler angle="radian"/>
<option timestep="{step!r}" integrator="{integrator}" gravity="{gravity}" solver="Newton" jacobian="dense"
 tolerance="1e-14"><flag {flags} refsafe="disable"/></option>
<worldbody>
 <body pos="{a}"><joint name="A" type="hinge" axis="1 0 0"/>
  <inertial pos="{crank_centre}" mass="{crank_mass}" fullinertia="{crank_inertia}"/>
  <site name="crank_B" pos="{crank}"/></body>
 <body pos="{c}"><joint name="D" type="slide" axis="1 0 0"/>
  <inertial pos="0 0 0" mass="{block_mass}" fullinertia="{block_inertia}"/>
  <body><joint name="C_block" type="hinge" axis="{block_cross}"/><joint name="C_rod" type="hinge" axis="{rod_cross}"/>
   <inertial pos="{rod_centre}" mass="{rod_mass}" fullinertia="{rod_inertia}"/>
   <site name="rod_B" pos="{rod}"/></body></body>
</worldbody>
<equality><connect site1="crank_B" site2="rod_B" solref="{constant!r} 1" solimp="{hard} {hard} 1 0.5 2"/></equality>
</mujoco>"""


def model(integrator, step, ratio):
    """The compiled model; the closure has a time constant of `ratio` steps and is critically damped."""

    def text(values):
        return " ".join(repr(float(x)) for x in np.ravel(values))

    def inertia(matrix):
        return text([*np.diag(matrix), matrix[0, 1], matrix[0, 2], matrix[1, 2]])

    crank, rod = p1.B - p1.A, p1.B - p1.C
    return mujoco.MjModel.from_xml_string(
        MODEL.format(
            step=step,
            integrator=integrator,
            gravity=text(p1.GRAVITY),
            flags=" ".join(f'{name}="disable"' for name in UNUSED.split()),
            a=text(p1.A),
            c=text(p1.C),
            crank=text(crank),
            rod=text(rod),
            crank_centre=text(crank / 2),
            rod_centre=text(rod / 2),
            crank_mass=p1.CRANK_MASS,
            rod_mass=p1.ROD_MASS,
            block_mass=p1.BLOCK_MASS,
            crank_inertia=inertia(p1.CRANK_INERTIA),
            block_inertia=inertia(p1.BLOCK_INERTIA),
            rod_inertia=inertia(p1.rod_inertia()),
            block_cross=text(p1.BLOCK_CROSS),
            rod_cross=text(p1.ROD_CROSS),
            constant=ratio * step,
            hard=HARDEST,
        )
    )


def simulate(integrator, count, ratio, repeats=1):
    """CPU time of the `mj_step` calls (s) and the error (m) with `count` steps in half a second."""
    compiled = model(integrator, p1.STEP_UNIT / count, ratio)
    spans = np.rint(np.diff([0.0, *p1.TIMES]) / p1.STEP_UNIT).astype(int)

    def prepare():
        data = mujoco.MjData(compiled)
        data.qvel[:] = [p1.CRANK_SPIN[0], p1.BLOCK_VELOCITY[0], p1.ROD_SPIN[2], 0.0]
        return (data,)

    def run(data):
        positions = []
        for span in spans:
            mujoco.mj_step(compiled, data, nstep=int(span) * count)
            positions.append(data.qpos[1] + p1.C[0])
        return positions

    seconds, positions = best_of(run, repeats, prepare)
    return seconds, p1.error(positions)


def measure(integrator, limit, repeats, highest=3.2e4):
    """The fastest setting (steps and stiffness of the closure) whose error is within `limit`, or the best reached."""
    best = None
    for ratio in (1.6, 1.8, 1.9, 2.0, 2.1, 2.5) if integrator == "RK4" else (2.0, 4.0):
        search = Search(lambda effort, ratio=ratio: simulate(integrator, round(effort), ratio)[1], limit)
        effort, reached = search.run(250, 4000 if integrator == "RK4" else highest)
        seconds, error = simulate(integrator, round(effort), ratio, repeats)
        units = round(p1.END / p1.STEP_UNIT)
        row = {
            "setting": f"{units * round(effort)} steps, closure time constant {ratio:g} steps",
            "error": error,
            "seconds": seconds,
            "steps": units * round(effort),
            "reached": reached,
        }
        key = (not reached, seconds if reached else error)
        best = min(best, (key, row), key=lambda entry: entry[0]) if best else (key, row)
    return best[1]
