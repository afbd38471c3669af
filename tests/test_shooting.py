"""Unknown starts, and long recordings cut into segments with continuity."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb

TS = np.linspace(0, 20, 401)
START = {"positions": {"pin.spin": 0.0}, "speeds": {"pin.spin": 2.0}}
GRAVITY = ident.Parameter("gravity", "gravity.acceleration.y", start=-22.0, lower=-40.0, upper=-3.0)
DRAG = ident.Parameter("drag", "drag.viscous", start=0.05, lower=0.0, upper=1.0)


def pendulum():
    mechanism = mb.library.pendulum(length=1.0, mass=2.0, inertia=(0.1, 0.1, 0.1), angle=0.0)
    return mechanism.add(mb.JointFriction("drag", "pin", "spin", viscous=0.02))


@pytest.fixture(scope="module")
def swing():
    """Ten swings of a pendulum, made with Kvaerno5; gravity 9.81 along -y."""
    import diffrax

    system = mb.assemble(pendulum())
    run = mb.simulate(
        system, mb.initial_state(system, **START), jnp.asarray(TS), solver=diffrax.Kvaerno5(),
        steps=mb.Adaptive(rtol=1e-9),
    )  # fmt: skip
    recording = ident.Recording(TS, {"angle": np.asarray(run["pin.spin"])})
    return ident.Experiment("swing", recording, [ident.Compared("pin.spin", "angle", 1e-4)], **START)


@pytest.mark.slow
def test_segments_find_what_one_long_motion_cannot(swing):
    one = ident.fit(ident.Problem(pendulum(), [GRAVITY, DRAG], [swing]))
    assert abs(one.x[0] + 9.81) > 0.1  # a swing too many or too few
    parts, starts = ident.shooting(swing, ["pin.spin"], 8)
    problem = ident.Problem(pendulum(), [GRAVITY, DRAG, *starts], parts)
    assert len({id(run.group) for run in problem.runs}) == 1
    many = ident.fit(problem)
    np.testing.assert_allclose(many.x[:2], [-9.81, 0.02], rtol=1e-5)
    # Continuity holds: the segments are one motion.
    gaps = np.concatenate([link.residual(many.u, np.inf) * link.sigmas for link in problem.links])
    assert np.abs(gaps).max() < 1e-6
    errors = ident.check(problem, horizon=problem.longest, trials=0).derivative_error
    assert max(errors.values()) < 1e-4


@pytest.mark.slow
def test_an_unknown_start_is_fitted_with_the_rest(swing):
    ts = TS[:41]
    recording = ident.Recording(ts, {"angle": swing.recording.column("angle")[:41]})
    run = ident.Experiment(
        "swing", recording, swing.compared, positions={"pin.spin": 0.1}, speeds={"pin.spin": 1.5}
    )  # fmt: skip
    unknown = [
        ident.Parameter("gravity", "gravity.acceleration.y", start=-9.0),
        ident.Parameter("angle", "start.positions.pin.spin", lower=-1.0, upper=1.0),
        ident.Parameter("rate", "start.speeds.pin.spin"),
    ]
    result = ident.fit(ident.Problem(pendulum(), unknown, [run]))
    np.testing.assert_allclose(result.x, [-9.81, 0.0, 2.0], atol=1e-6)


def test_faults_of_segments_and_starts_are_named(swing):
    with pytest.raises(ident.StudyError, match=r"`pin\.axial` is not compared"):
        ident.shooting(swing, ["pin.axial"], 4)
    with pytest.raises(ident.StudyError, match="too few samples"):
        ident.shooting(swing, ["pin.spin"], 100)
    for path in ("start.position.pin.spin", "start.speeds.pin.axial"):
        with pytest.raises(ident.StudyError, match="start"):
            ident.Problem(pendulum(), [ident.Parameter("x", path, start=0.0)], [swing])
    parts, starts = ident.shooting(swing, ["pin.spin"], 4)
    with pytest.raises(ident.StudyError, match="which it continues, ends at"):
        ident.Problem(pendulum(), [DRAG, *starts[:2]], [parts[0], parts[1], *(
            [dataclasses.replace(parts[2], continues="swing, segment 1")]
        )])  # fmt: skip
    with pytest.raises(ident.StudyError, match="which is not another experiment"):
        ident.Problem(pendulum(), [DRAG], [parts[1]])
