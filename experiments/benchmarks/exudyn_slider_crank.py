"""Exudyn on the ideal slider-crank: rigid bodies with joints, and a kinematic tree closed by a spherical joint."""

import sys

sys.exudynFast = True  # the build without range checks; read once, on import

import exudyn as exu  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402
import numpy as np  # noqa: E402
from exudyn.rigidBodyUtilities import RigidBodyInertia  # noqa: E402

from . import slider_crank as p1  # noqa: E402
from .timing import Search, best_of  # noqa: E402

# The node types (parameters of rotation) of rigid bodies; `tree` is the minimal coordinates formulation.
NODES = {
    "rotation vector": exu.NodeType.RotationRotationVector,
    "Euler parameters": exu.NodeType.RotationEulerParameters,
    "Tait-Bryan": exu.NodeType.RotationRxyz,
}
SOLVERS = {
    "trapezoidal index 2": exu.DynamicSolverType.TrapezoidalIndex2,
    "generalized alpha": exu.DynamicSolverType.GeneralizedAlpha,
    "RK44": exu.DynamicSolverType.RK44,
}
LINEAR = {
    "EigenDense": exu.LinearSolverType.EigenDense,
    "EXUdense": exu.LinearSolverType.EXUdense,
    "EigenSparse": exu.LinearSolverType.EigenSparse,
}


def rigid_bodies(node_type):
    """Three rigid bodies and the 17 constraints of the four joints; the sensor reads the slider position."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()

    def body(mass, inertia, position, velocity, spin):
        return mbs.CreateRigidBody(
            referencePosition=position,
            initialVelocity=velocity,
            initialAngularVelocity=spin,
            gravity=p1.GRAVITY,
            inertia=RigidBodyInertia(mass=mass, inertiaTensor=inertia),
            nodeType=node_type,
        )

    def marker(number, position, axes=None):
        turn = exu.HT(rotation=np.eye(3) if axes is None else axes, translation=position)
        return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=number, localHT=turn))

    def joint(first, second, axes):
        mbs.AddObject(items.GenericJoint(markerNumbers=[first, second], constrainedAxes=axes))

    velocity = p1.B_VELOCITY
    crank = body(p1.CRANK_MASS, p1.CRANK_INERTIA, (p1.A + p1.B) / 2, velocity / 2, p1.CRANK_SPIN)
    rod = body(p1.ROD_MASS, p1.rod_inertia(), (p1.B + p1.C) / 2, (velocity + p1.BLOCK_VELOCITY) / 2, p1.ROD_SPIN)
    block = body(p1.BLOCK_MASS, p1.BLOCK_INERTIA, p1.C, p1.BLOCK_VELOCITY, np.zeros(3))
    ground = mbs.CreateGround()
    half, reach = (p1.B - p1.A) / 2, (p1.C - p1.B) / 2
    # One constrained turn: y of the first marker stays normal to z of the second.
    block_cross = np.roll(p1.axes_with_z(p1.BLOCK_CROSS), 2, axis=1)
    joint(marker(ground, p1.A), marker(crank, -half), [1, 1, 1, 0, 1, 1])
    mbs.AddObject(items.SphericalJoint(markerNumbers=[marker(crank, half), marker(rod, -reach)]))
    joint(marker(block, np.zeros(3), block_cross), marker(rod, reach, p1.axes_with_z(p1.ROD_CROSS)), [1, 1, 1, 1, 0, 0])
    joint(marker(ground, p1.C), marker(block, np.zeros(3)), [0, 1, 1, 1, 1, 1])
    sensor = mbs.AddSensor(
        items.SensorBody(
            bodyNumber=block,
            storeInternal=True,
            writeToFile=False,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    mbs.Assemble()
    return container, mbs, lambda: _at_outputs(mbs.GetSensorStoredData(sensor), 1, 0.0)


def tree(stiffness=None):
    """Crank and slider-cross-rod as a tree of four coordinates, closed at B by a joint or by a spring (N/m)."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * 4,
            initialCoordinates=[0.0] * 4,
            initialCoordinates_t=[p1.CRANK_SPIN[0], p1.BLOCK_VELOCITY[0], p1.ROD_SPIN[2], 0.0],
            numberOfODE2Coordinates=4,
        )
    )
    kind, same, rod = exu.JointType, np.eye(3), p1.axes_with_z(p1.ROD_CROSS)
    number = mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[kind.RevoluteX, kind.PrismaticX, kind.RevoluteZ, kind.RevoluteZ],
            linkParents=[-1, -1, 1, 2],
            jointTransformations=exu.Matrix3DList([same, same, same, rod]),
            jointOffsets=exu.Vector3DList([p1.A, p1.C, np.zeros(3), np.zeros(3)]),
            linkInertiasCOM=exu.Matrix3DList(
                [p1.CRANK_INERTIA, p1.BLOCK_INERTIA, np.zeros((3, 3)), rod.T @ p1.rod_inertia() @ rod]
            ),
            linkCOMs=exu.Vector3DList([(p1.B - p1.A) / 2, np.zeros(3), np.zeros(3), rod.T @ (p1.B - p1.C) / 2]),
            linkMasses=[p1.CRANK_MASS, p1.BLOCK_MASS, 0.0, p1.ROD_MASS],
            gravity=p1.GRAVITY,
        )
    )
    ends = [
        mbs.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=number, linkNumber=link, localPosition=position))
        for link, position in ((0, p1.B - p1.A), (3, rod.T @ (p1.B - p1.C)))
    ]
    if stiffness is None:
        mbs.AddObject(items.SphericalJoint(markerNumbers=ends))
    else:
        mbs.AddObject(items.CartesianSpringDamper(markerNumbers=ends, stiffness=[stiffness] * 3))
    sensor = mbs.AddSensor(
        items.SensorNode(
            nodeNumber=node,
            storeInternal=True,
            writeToFile=False,
            outputVariableType=exu.OutputVariableType.Coordinates,
        )
    )
    mbs.Assemble()
    return container, mbs, lambda: _at_outputs(mbs.GetSensorStoredData(sensor), 2, p1.C[0])


def _at_outputs(data, column, offset):
    rows = [int(np.argmin(np.abs(data[:, 0] - t))) for t in p1.TIMES]
    return data[rows, column] + offset


def simulate(formulation, solver, steps, *, linear, modified, tolerance, stiffness=None, repeats=1):
    """CPU time of the solver call (s) and the slider positions (m) with `steps` equal steps."""
    settings = exu.SimulationSettings()
    stepping = settings.timeIntegration
    stepping.endTime, stepping.numberOfSteps = p1.END, steps
    stepping.verboseMode = 0
    stepping.newton.useModifiedNewton = modified
    stepping.newton.relativeTolerance = tolerance
    settings.linearSolver.solverType = LINEAR[linear]
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = p1.STEP_UNIT

    def prepare():
        return tree(stiffness) if formulation == "tree" else rigid_bodies(NODES[formulation])

    def run(container, mbs, read):
        mbs.SolveDynamic(settings, solverType=SOLVERS[solver], showHints=False)
        return container, read

    seconds, (_, read) = best_of(run, repeats, prepare)
    return seconds, read()


def differences(count, formulation, solver, change=1e-4, **arguments):
    """Central differences by `count` parameters: as many pairs of runs. Their error is that of the two masses."""
    row = measure(formulation, solver, **arguments)

    def positions(name, factor):
        given = getattr(p1, name)
        setattr(p1, name, given * factor)
        options = {"linear": "EigenDense", "modified": False, "tolerance": 1e-7}
        found = simulate(formulation, solver, row["steps"], **options)[1]
        setattr(p1, name, given)
        return found

    masses = ("ROD_MASS", "BLOCK_MASS")
    slopes = [(positions(n, 1 + change) - positions(n, 1 - change)) / (2 * change) for n in masses]
    setting = f"{2 * count} runs of {row['setting']}, derivatives to {p1.slope_error(np.stack(slopes, -1)):.1g} m"
    return row | {"seconds": 2 * count * row["seconds"], "setting": setting}


def measure(formulation, solver, limit, repeats, stiffness=None, highest=4e3):
    """The fastest setting (steps, Newton variant and tolerance, linear solver) whose error is within `limit`."""
    units = round(p1.END / p1.STEP_UNIT)
    explicit = solver == "RK44"
    best = None
    for modified in (False,) if explicit else (False, True):
        for tolerance in (1e-8,) if explicit else (1e-7, 1e-8):
            options = {"modified": modified, "tolerance": tolerance, "stiffness": stiffness}

            def error_at(effort, options=options):
                steps = units * round(effort)
                return p1.error(simulate(formulation, solver, steps, linear="EigenDense", **options)[1])

            # The error falls smoothly with the step, so one finer setting confirms.
            search = Search(error_at, limit, confirm=(1.0, 1.2))
            effort, reached = search.run(10000 if explicit else 1000, highest, refinements=4)
            for linear in LINEAR:
                count = 1 if explicit and not reached else repeats
                steps = units * round(effort)
                seconds, found = simulate(formulation, solver, steps, linear=linear, repeats=count, **options)
                newton = "" if explicit else f", {'modified' if modified else 'full'} Newton {tolerance:g}, {linear}"
                row = {
                    "setting": f"{steps} steps{newton}",
                    "error": p1.error(found),
                    "seconds": seconds,
                    "steps": steps,
                    "reached": reached,
                }
                # Among those that reach the limit the fastest, otherwise the most accurate.
                key = (not reached, seconds if reached else row["error"])
                best = min(best, (key, row), key=lambda entry: entry[0]) if best else (key, row)
                if explicit:
                    break
    return best[1]
