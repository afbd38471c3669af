"""Ranking of models, experiments to come, posterior."""

import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb

TS = np.linspace(0, 3, 151)


def pendulum(**friction):
    mechanism = mb.library.pendulum(length=1.0, mass=2.0, inertia=(0.1, 0.1, 0.1), angle=1.2)
    return mechanism.add(mb.JointFriction("drag", "pin", "spin", **friction))


def swing(name, mechanism, seed, validation=False, **start):
    system = mb.assemble(mechanism)
    angle = mb.simulate(system, mb.initial_state(system, **start), jnp.asarray(TS))["pin.spin"]
    angle = np.asarray(angle) + 1e-3 * np.random.default_rng(seed).normal(size=TS.size)
    return ident.Experiment(
        name, ident.Recording(TS, {"a": angle}), [ident.Compared("pin.spin", "a")], validation=validation, **start
    )


@pytest.mark.slow
def test_the_law_that_made_the_data_is_ranked_first():
    truth = pendulum(viscous=0.05, dry=0.4, speed=0.05)
    data = [swing("a", truth, 0), swing("b", truth, 1, True, positions={"pin.spin": 0.8})]
    viscous = ident.Parameter("viscous", "drag.viscous", start=0.1, lower=0.0, upper=5.0)
    dry = ident.Parameter("dry", "drag.dry", start=0.2, lower=0.0, upper=5.0)
    problems = {
        "viscous": ident.Problem(pendulum(viscous=0.1, speed=0.05), [viscous], data),
        "both": ident.Problem(pendulum(viscous=0.1, dry=0.1, speed=0.05), [viscous, dry], data),
    }
    for criterion in (None, "aic", "bic"):
        ranking = ident.rank(problems, criterion=criterion)
        assert [r.name for r in ranking.rows] == ["both", "viscous"], str(ranking)
    assert ranking.best.aic == 0 and ranking.rows[1].aic > 100 and ranking.best.weight > 0.999
    assert "validation error" in str(ranking)
    np.testing.assert_allclose(ranking.best.result.x, [0.05, 0.4], rtol=0.05)
    with pytest.raises(ident.StudyError, match="fitted to different data"):
        ident.rank({"x": problems["both"], "y": ident.Problem(pendulum(), [dry], data[:1])})


@pytest.mark.slow
def test_design_names_the_experiment_that_pins_the_weak_direction():
    """Small swings cannot tell dry friction from viscous one; a fast start can. Expected deviations are those that a
    fit then gets."""
    mechanism = pendulum(viscous=0.2, dry=0.2, speed=0.5)
    unknown = [ident.Parameter(n, f"drag.{n}", start=0.2) for n in ("viscous", "dry")]
    slow = ident.planned("slow", TS, {"pin.spin": 1e-3}, positions={"pin.spin": 0.05})
    fast = ident.planned("fast", TS, {"pin.spin": 1e-3}, speeds={"pin.spin": 5.0})
    problem = ident.Problem(mechanism, unknown, [slow])
    found = ident.design(problem, {"again": slow, "fast": fast, "both": [slow, fast]})
    assert found.best.name in ("fast", "both") and found.rows[-1].name == "again", str(found)
    assert found.now.deviation.max() > 5 * found.best.deviation.max()
    again = next(r for r in found.rows if r.name == "again")
    np.testing.assert_allclose(again.deviation, found.now.deviation / np.sqrt(2), rtol=1e-6)
    system = mb.assemble(mechanism)
    angle = mb.simulate(system, mb.initial_state(system, speeds={"pin.spin": 5.0}), jnp.asarray(TS))["pin.spin"]
    data = ident.Experiment(
        "fast", ident.Recording(TS, {"a": np.asarray(angle)}), [ident.Compared("pin.spin", "a", 1e-3)],
        speeds={"pin.spin": 5.0},
    )  # fmt: skip
    alone = ident.fit(ident.Problem(mechanism, unknown, [data]))
    expected = ident.design(ident.Problem(mechanism, unknown, [fast]), {"slow": slow}).now.stderr
    np.testing.assert_allclose(alone.stderr, expected, rtol=1e-3)
    with pytest.raises(ident.StudyError, match="no parameter `dri`"):
        ident.design(problem, {"fast": fast}, target="dri")
