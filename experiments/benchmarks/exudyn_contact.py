"""Exudyn with a ball in a hollow sphere: the contact, the solver call, and the fastest setting within an error.

Exudyn's Hunt-Crossley model damps by 3 (1 - e') / 2; with e' = 1 - (1 - e^2) / 2 it is Lankarani and Nikravesh's law
for restitution e. Its friction grows linearly up to a slip speed instead of as tanh. Touches are located by Exudyn's
recommended steps, and positions between two recorded steps are cubic in time.
"""

import sys

sys.exudynFast = True  # the build without range checks; read once, on import

import exudyn as exu  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402
import numpy as np  # noqa: E402

from .timing import Search, best_of  # noqa: E402

KINDS = exu.OutputVariableType
SOLVERS = {
    "DOPRI5": exu.DynamicSolverType.DOPRI5,
    "RK44": exu.DynamicSolverType.RK44,
    "RK67": exu.DynamicSolverType.RK67,
    "trapezoidal index 2": exu.DynamicSolverType.TrapezoidalIndex2,
    "generalized alpha": exu.DynamicSolverType.GeneralizedAlpha,
}
EXPLICIT = ("DOPRI5", "RK44", "RK67")
# Largest force (N) by which a touch may be late: smaller is more accurate and needs more small steps.
LATE = (1.0, 10.0)


def hollow_sphere(mbs, ball, socket, numbers, friction=0.0, slope=1e-3):
    """Contact between markers of the ball and of the socket."""
    initial = [numbers.CLEARANCE, 0.0, 0.0, 0.0]
    node = mbs.AddNode(items.NodeGenericData(initialCoordinates=initial, numberOfDataCoordinates=4))
    mbs.AddObject(
        items.ObjectContactSphereSphere(
            markerNumbers=[ball, socket],
            nodeNumber=node,
            spheresRadii=[numbers.RADIUS - numbers.CLEARANCE, numbers.RADIUS],
            isHollowSphere1=True,
            contactStiffness=numbers.STIFFNESS,
            contactStiffnessExponent=1.5,
            restitutionCoefficient=1 - (1 - numbers.RESTITUTION**2) / 2,
            minimumImpactVelocity=1e-6,
            impactModel=1,
            dynamicFriction=friction,
            frictionProportionalZone=slope,
        )
    )


def kinematic_tree(mbs, links, speeds, gravity):
    """Node and number of a tree; a link is (joint type, parent, offset, mass, inertia about its centre, centre)."""
    node = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * len(links),
            initialCoordinates=[0.0] * len(links),
            initialCoordinates_t=speeds,
            numberOfODE2Coordinates=len(links),
        )
    )
    types, parents, offsets, masses, inertias, centres = zip(*links, strict=True)
    number = mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=list(types),
            linkParents=list(parents),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * len(links)),
            jointOffsets=exu.Vector3DList([np.asarray(x, dtype=float) for x in offsets]),
            linkInertiasCOM=exu.Matrix3DList([np.asarray(x, dtype=float) for x in inertias]),
            linkCOMs=exu.Vector3DList([np.asarray(x, dtype=float) for x in centres]),
            linkMasses=list(masses),
            gravity=gravity,
        )
    )
    return node, number


def on_link(mbs, tree, link, place):
    """A marker on a link of a tree."""
    return mbs.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link, localPosition=place))


def sensors_of(mbs, node, places, speeds):
    """Sensors of a node's places and speeds (cheaper than those of a link or a body)."""
    common = {"nodeNumber": node, "storeInternal": True, "writeToFile": False}
    return [mbs.AddSensor(items.SensorNode(outputVariableType=kind, **common)) for kind in (places, speeds)]


def at(times, places, speeds):
    """Coordinates (times, n) from recorded steps; each record has the time in its first column."""
    t, first = np.unique(places[:, 0], return_index=True)
    x, v = places[first, 1:], speeds[first, 1:]
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, t.size - 2)
    h = (t[k + 1] - t[k])[:, None]
    s = (times - t[k])[:, None] / h
    rise, first, second = x[k + 1] - x[k], h * v[k], h * v[k + 1]
    return x[k] + s * (first + s * (3 * rise - 2 * first - second + s * (first + second - 2 * rise)))


def simulate(build, numbers, solver, effort, late=1.0, repeats=1):
    """CPU time of the solver call (s) and positions at the outputs (times, 3 per pair of sensors).

    `effort` is the number of steps, or one over the tolerance for DOPRI5. Positions are NaN if the solver gives up.
    """
    settings = exu.SimulationSettings()
    stepping = settings.timeIntegration
    stepping.endTime, stepping.verboseMode = numbers.END, 0
    stepping.automaticStepSize = solver == "DOPRI5"
    stepping.numberOfSteps = numbers.FEWEST if solver == "DOPRI5" else round(effort)
    stepping.relativeTolerance = stepping.absoluteTolerance = 1 / effort
    stepping.minimumStepSize = 1e-14
    stepping.adaptiveStepRecoverySteps = 0
    stepping.discontinuous.iterationTolerance = late
    stepping.explicit.computeEndOfStepAccelerations = False
    stepping.newton.useModifiedNewton = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenDense
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = numbers.RECORD

    def prepare():
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        sensors = build(mbs)
        mbs.Assemble()
        return container, mbs, sensors

    def run(container, mbs, sensors):
        try:
            mbs.SolveDynamic(settings, solverType=SOLVERS[solver], showHints=False)
        except (RuntimeError, ValueError):
            return container, None
        return container, [[mbs.GetSensorStoredData(s) for s in pair] for pair in sensors]

    seconds, (_, records) = best_of(run, repeats, prepare)
    if records is None:
        return seconds, np.full((len(numbers.TIMES), 1), np.nan)
    return seconds, np.concatenate([at(numbers.TIMES, *record) for record in records], axis=1)


def fastest(build, numbers, solver, error, limit, repeats, start, highest):
    """The fastest setting whose error is within `limit`, or the most accurate seen."""
    best = None
    confirm = numbers.CONFIRM if solver == "DOPRI5" else (1.0, 1.2, 1.5)
    for late in LATE if solver in EXPLICIT else LATE[:1]:
        search = Search(lambda e, late=late: error(simulate(build, numbers, solver, e, late)[1]), limit, confirm)
        factor = 10.0 if solver == "DOPRI5" else 2.0
        effort, reached = search.run(start, highest, factor, refinements=4)
        seconds, found = simulate(build, numbers, solver, effort, late, repeats if reached else 1)
        what = f"tolerance {1 / effort:.2g}" if solver == "DOPRI5" else f"{round(effort)} steps"
        setting = f"{what}, touches within {late:g} N"
        row = {"setting": setting, "error": error(found), "seconds": seconds, "reached": reached}
        key = (not reached, seconds if reached else row["error"])
        best = min(best, (key, row), key=lambda entry: entry[0]) if best else (key, row)
    return best[1]
