"""Several experiments of one mechanism: measured inputs, own starts, different lengths, one compilation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import identification as ident
import mbjax as mb

MASS, INERTIA, VISCOUS = 2.0, 0.1, 0.3  # kg, kg m^2 about the mass centre, N m s/rad; 1 m below the pin


def pendulum():
    return mb.library.pendulum(length=1.0, mass=MASS, inertia=(INERTIA, INERTIA, INERTIA), angle=0.0).add(
        mb.JointForce("push", "pin", "spin", mb.signal.Constant(0.0)),
        mb.JointFriction("drag", "pin", "spin", viscous=0.1),
    )


def swing(angle, speed, length, viscous=VISCOUS):
    """An experiment whose data come from SciPy's integration of the pendulum with a push that is linear between
    samples."""
    t = np.linspace(0.0, length, round(100 * length) + 1)
    push = 3 * np.sin(5 * t)

    def rate(time, y):
        torque = np.interp(time, t, push)
        return [y[1], (torque - viscous * y[1] - MASS * 9.81 * np.sin(y[0])) / (MASS + INERTIA)]

    spin = solve_ivp(rate, (0, length), [angle, speed], t_eval=t, rtol=1e-10, atol=1e-12, max_step=0.01).y[0]
    return ident.Experiment(
        f"from {angle:g}",
        ident.Recording(t + 10.0, {"spin [deg]": np.degrees(spin), "push": push / 2}),
        [ident.Compared("pin.spin", "spin [deg]", 1e-4, factor=np.pi / 180)],
        positions={"pin.spin": angle},
        speeds={"pin.spin": speed},
        inputs=[ident.Input("push.signal", "push", factor=2.0)],
    )


def unknowns():
    # Of a pendulum only mass times length and the inertia about the pin count: the inertia stays as it is.
    return [ident.Parameter("mass", "bob.mass", start=1.2), ident.Parameter("drag", "drag.viscous", scale="log")]


@pytest.mark.slow
def test_swings_of_different_length_are_fitted_together():
    swings = [swing(0.5, 0.0, 0.6), swing(-0.2, 1.0, 1.0)]
    problem = ident.Problem(pendulum(), unknowns(), swings)
    groups = {id(run.group) for run in problem.runs}
    assert len(groups) == 1 and problem.runs[0].group is not None
    result = ident.fit(problem)
    np.testing.assert_allclose(result.x, [MASS, VISCOUS], rtol=1e-5)
    alone = ident.Problem(pendulum(), unknowns(), swings[1:2]).runs[0].predict(result.u)[1]
    np.testing.assert_allclose(problem.runs[1].predict(result.u)[1], alone, rtol=1e-7, atol=1e-9)
    # A horizon leaves out samples, not experiments.
    inside, model = problem.runs[1].predict(result.u, 0.5)
    assert inside.sum() == 51 and (model[51:] == 0).all() and np.isfinite(model).all()


@pytest.mark.slow
def test_a_parameter_of_its_own_in_each_experiment():
    swings = [swing(0.5, 0.0, 0.6, 0.2), swing(-0.2, 1.0, 0.6, 0.5), swing(0.1, -1.0, 0.6, 0.5)]
    cold, warm, again = (s.name for s in swings)
    unknown = [
        ident.Parameter("mass", "bob.mass", start=1.2),
        ident.Parameter("cold drag", "drag.viscous", experiments=[cold]),
        ident.Parameter("warm drag", "drag.viscous", experiments=[warm, again]),
    ]
    problem = ident.Problem(pendulum(), unknown, swings)
    assert problem.runs[0].group is not None
    result = ident.fit(problem)
    np.testing.assert_allclose(result.x, [MASS, 0.2, 0.5], rtol=1e-5)
    assert float(problem.fitted_mechanism(result.u).value("drag.viscous")) == 0.1
    assert float(problem.fitted_mechanism(result.u, warm).value("drag.viscous")) == result.x[2]
    # Nothing of what follows compiles anew: a run left out keeps its own parameter, a held one stays.
    part = problem.held_out([cold]).holding({"mass": 1.5})
    other = ident.fit(part)
    assert other.x[0] == pytest.approx(1.5) and other.x[1] == 0.1 and abs(other.x[2] - 0.5) > 1e-3
    assert part.linearised(result.u)[1].shape[0] == 2 * 61 and not problem.experiments[0].validation


def test_parameters_of_experiments_are_checked():
    swings = [swing(0.5, 0.0, 0.1), swing(-0.2, 1.0, 0.1)]

    def problem(*given):
        drags = [ident.Parameter(f"drag {k}", "drag.viscous", experiments=e) for k, e in enumerate(given)]
        return ident.Problem(pendulum(), drags, swings)

    with pytest.raises(ident.StudyError, match=r"no experiment `b`\. Known: from 0.5, from -0.2"):
        problem(["b"])
    with pytest.raises(ident.StudyError, match=r"`drag 0` and `drag 1` both set `drag.viscous`"):
        problem(["from 0.5"], ["from 0.5", "from -0.2"])


def test_faulty_inputs_are_named():
    good = swing(0.5, 0.0, 0.1)

    def problem(given):
        return ident.Problem(pendulum(), unknowns(), [ident.Experiment(
            "run", good.recording, good.compared, inputs=[given]
        )])  # fmt: skip

    for given, message in (
        (ident.Input("pull.signal", "push"), "input `pull.signal`.*pull"),
        (ident.Input("push.torque", "push"), "`push.torque` is not a signal. Known: push.signal"),
        (ident.Input("bob.mass", "push"), "`bob` has no signal"),
    ):
        with pytest.raises(ident.StudyError, match=message):
            problem(given)
    with pytest.raises(ident.DataError, match=r"no column `pusch`\. Did you mean `push`"):
        problem(ident.Input("push.signal", "pusch"))
