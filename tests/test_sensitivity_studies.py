"""Sensitivity studies: derivatives of channels, event times and peak forces; Sobol and Morris against closed forms."""

import numpy as np
import pytest

import identification as ident
import mbjax as mb
from identification import measure

PATHS = ("wall.interface.normal.elastic.stiffness", "wall.interface.normal.hysteresis.restitution", "ball.mass")
GRAVITY = "gravity.acceleration.z"


def ball():
    law = mb.Dry(mb.Impact(mb.Hertz(1e6), mb.Flores(0.8)))
    return mb.library.bouncing_ball(height=0.02, interface=law)


@pytest.fixture(scope="module")
def study():
    wanted = [measure.Contacts("wall", q, 1, 20) for q in ("time", "speed", "peak force")]
    ts = np.linspace(0, 0.11, 56)
    outputs = ["ball.position.z", "ball.velocity.z"]
    return ident.sensitivity(ball(), outputs, [*PATHS, GRAVITY], ts, measures=wanted)


def test_before_the_first_touch_only_gravity_matters(study):
    early = study.ts < 0.06
    slopes = study.of("ball.position.z")[early]
    np.testing.assert_allclose(slopes[:, 3], 0.5 * study.ts[early] ** 2, atol=1e-12)
    np.testing.assert_allclose(slopes[:, :3], 0, atol=1e-15)
    assert np.abs(study.of("ball.position.z")[-1, :2]).min() > 0


def test_the_first_touch_has_the_derivatives_of_free_fall(study):
    """t = sqrt(2 h / g), v = sqrt(2 h g); g counts downward here. Stiffness and restitution cannot move it."""
    t, v = np.sqrt(0.04 / 9.81), np.sqrt(0.04 * 9.81)
    np.testing.assert_allclose(study.measures[:2], [t, v], rtol=1e-8)
    np.testing.assert_allclose(study.measure_slopes[:2, 3], [t / 2 / 9.81, -v / 2 / 9.81], rtol=1e-6)
    np.testing.assert_allclose(study.measure_slopes[:2, :3], 0, atol=1e-10)
    # Peak force ~ K^0.4 m^0.6 v^1.2 but for the weight during contact; K and m together scale every force.
    relative = study.measure_slopes[2] * study.values / study.measures[2]
    np.testing.assert_allclose(relative[[0, 2]], [0.4, 0.6], atol=0.05)
    np.testing.assert_allclose(relative[0] + relative[2], 1.0, atol=1e-4)


def test_ranking_fisher_and_picture(study, tmp_path):
    names = [row[0] for row in study.ranking()]
    assert set(names) == {*PATHS, GRAVITY} and "strength" in str(study) and "trusted" in study.remark
    information = study.fisher(1e-5)
    np.testing.assert_allclose(information, information.T)
    assert (np.linalg.eigvalsh(information) > -1e-6 * information.max()).all()
    study.plot(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5000
    with pytest.raises(KeyError, match=r"`ball\.position\.x`"):
        study.of("ball.position.x")


def test_faults_are_named():
    for outputs, paths, message in (
        (["ball.position.w"], [PATHS[0]], "ball.position.w"),
        (["ball.position.z"], ["ball.maß"], "maß"),
        (["ball.position.z"], ["ball.inertia"], "array of shape"),
        ([], [PATHS[0]], "at least one"),
    ):
        with pytest.raises((ident.StudyError, ValueError), match=message):
            ident.sensitivity(ball(), outputs, paths, [0.0, 0.01])


def falling():
    """z = h + v t - g t^2 / 2 after one second: a linear function of v and g."""
    body = mb.SpatialBody("body", 1.0, (1.0, 1.0, 1.0))
    return mb.Mechanism("falling", bodies=[body], elements=[mb.Gravity((0.0, 0.0, -9.81))])


RANGES = {"body.velocity.z": (0.0, 3.0), GRAVITY: (-10.0, -8.0)}
SPREADS = np.array([3.0, 0.5 * 2.0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # SALib's own
def test_indices_of_a_linear_function_are_its_shares_of_the_variance():
    pytest.importorskip("SALib")
    found, result = ident.sobol(falling(), RANGES, measure.Final("body.position.z"), [0.0, 1.0], count=512)
    effects, _ = ident.morris(falling(), RANGES, measure.Final("body.position.z"), [0.0, 1.0], count=10)
    (index,) = found.values()
    share = SPREADS**2 / np.sum(SPREADS**2)
    np.testing.assert_allclose(index["S1"], share, atol=0.01)
    np.testing.assert_allclose(index["ST"], share, atol=0.01)
    assert len(result) == 512 * 4
    (effect,) = effects.values()
    np.testing.assert_allclose(effect["mu_star"], SPREADS, rtol=1e-6)
    np.testing.assert_allclose(effect["sigma"], 0, atol=1e-6)
