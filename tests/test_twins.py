"""Studies that the data cannot answer are refused with the right names; one more experiment makes them answerable."""

import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb
from identification.check import _sampling

STIFFNESS = ident.Parameter("stiffness", "wall.interface.normal.elastic.stiffness", scale="log")
EXPONENT = ident.Parameter("exponent", "wall.interface.normal.elastic.exponent", lower=1.0, upper=3.0)
FRICTION = ident.Parameter("friction", "wall.interface.friction.coefficient", lower=0.0, upper=1.0)


def ball(sideways=0.0):
    law = mb.Dry(mb.Impact(mb.Hertz(1e6), mb.Flores(0.8)), mb.Threlfall(0.2, 1e-2))
    mechanism = mb.library.bouncing_ball(height=0.02, interface=law)
    start = mechanism["ball"]
    return mechanism.replace(
        "ball", mb.SpatialBody("ball", 1.0, start.inertia, position=start.position, velocity=(sideways, 0.0, 0.0))
    )


def experiment(name, end, sideways=0.0, samples=201):
    mechanism, ts = ball(sideways), np.linspace(0.0, end, samples)
    system = mb.assemble(mechanism)
    run = mb.simulate(system, mb.initial_state(system), jnp.asarray(ts))
    columns = {c: np.asarray(run[f"ball.position.{c}"]) for c in "xz"}
    compared = [ident.Compared(f"ball.position.{c}", c, sigma=1e-6) for c in "xz"]
    return ident.Experiment(name, ident.Recording(ts, columns), compared, mechanism=mechanism)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unknown", "poor", "more"),
    [
        ([STIFFNESS, EXPONENT], ("falling", 0.05), ("bouncing from .02 m", 0.3)),
        ([FRICTION], ("straight down", 0.1), ("thrown sideways", 0.1, 0.3)),
    ],
    ids=["stiffness and exponent without impacts", "friction without sliding"],
)
def test_a_poor_study_is_refused_and_its_twin_is_not(unknown, poor, more):
    refused = ident.check(ident.Problem(ball(), unknown, [experiment(*poor)]), trials=0)
    assert not refused.ok and {v.word for v in refused.verdicts} == {"dead"}
    for p in unknown:
        assert any(f"`{p.name}` is not identifiable" in problem for problem in refused.problems)
    twin = ident.check(ident.Problem(ball(), unknown, [experiment(*poor), experiment(*more)]), trials=0)
    assert twin.ok and all(v.word == "identifiable" for v in twin.verdicts), str(twin)


@pytest.mark.slow
def test_samples_too_far_apart_for_a_contact_are_remarked():
    """A contact of this ball lasts 2.94 (5/4 m / K)^.4 v^-.2, about 14 ms."""
    for samples, remarked in ((201, False), (31, True)):
        problem = ident.Problem(ball(), [STIFFNESS], [experiment("bounces", 0.3, samples=samples)])
        run = problem.runs[0]
        remarks = list(_sampling(run, *run.start(problem.space.start)))
        assert len(remarks) == remarked
        assert not remarked or "contacts are over within 0.01" in remarks[0]
