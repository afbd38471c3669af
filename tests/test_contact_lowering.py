"""Simulations through contacts, films and bushings, and their derivatives, lower for CUDA without a host callback."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from test_contact_fuzz import ELASTIC, FRICTION, HARD, NORMAL, build, rotor

import mbjax as mb
from mbjax.dynamics import accelerations, rates_of

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::mbjax.ModelWarning")]
TS = jnp.linspace(0, 0.01, 3)
SPRINGS = ("RestitutionSpring", "SmoothRestitutionSpring", "DampedLayer", "Staged, weighted")
RIGS = {
    "elastic laws": [mb.Dry(NORMAL[f"Impact, {name}"]) for name in ELASTIC],
    "friction laws": [mb.Dry(HARD, law) for law in FRICTION.values()],
    "springs": [mb.Dry(NORMAL[name]) for name in SPRINGS],
}
PARAMETERS = {
    "rotor, films": "bearing0.interface.film.viscosity",
    "rotor, hybrids": "bearing0.interface.boundary",
    "slider in guide": "guide.interface.normal.restitution",
    "bouncing ball": "wall.interface.friction.coefficient",
    "bushing": "mount.damping",
    "slider-crank, strips and stops": "A.pair.radius",
}
# Tracing is slow: of these mechanisms, whose parts occur above or below, the run alone.
RUNS = {
    "planar slider-crank": "B.pair.clearance",
    "four-bar": "joint.interface.friction.static",
    "slider-crank, ball staged": "B.interface.normal.thickness",
    "slider-crank, journal in bearing": "A.pair.axial_clearance",
    "triple pendulum, impact": "C2.stops.0.upper",
}


def lowered(function, *arguments):
    """The program for CUDA, after a look for callbacks."""
    traced = jax.jit(function).trace(*arguments)
    assert "callback" not in str(traced.jaxpr)
    return traced.lower(lowering_platforms=("cuda",)).as_text()


def run_of(name, path):
    """Positions and velocities at the end, twice, as a function of one number of a mechanism."""
    system = build(name)
    state = mb.initial_state(system, throw=False)
    value = jnp.asarray(system.mechanism.value(path))

    def run(factor):
        final = mb.simulate(system.bind({path: value * factor}), state, TS, throw=False).final
        motion = jnp.concatenate([x.ravel() for x in jax.tree.leaves((final.q, final.v))])
        return motion, motion

    return run


@pytest.mark.parametrize("name", PARAMETERS)
def test_runs_with_contact_and_their_derivatives_lower_for_cuda_without_a_host_callback(name):
    # With `has_aux` the run itself is in the same program.
    assert "stablehlo.while" in lowered(jax.jacfwd(run_of(name, PARAMETERS[name]), has_aux=True), 1.0)


@pytest.mark.parametrize("name", RUNS)
def test_runs_with_contact_lower_for_cuda_without_a_host_callback(name):
    assert "stablehlo.while" in lowered(run_of(name, RUNS[name]), 1.0)


@pytest.mark.parametrize("name", RIGS)
def test_laws_and_their_derivatives_lower_for_cuda_without_a_host_callback(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelWarning)
        system = mb.assemble(rotor(RIGS[name]))
    state = mb.initial_state(system, throw=False)

    def rates(model):
        solution, *_, applied = accelerations(system.structure, model, state.q, state.v, state.internal, memory, 0.0)
        return jnp.concatenate([rates_of(solution), applied.internal_rate])

    memory = state.memory
    numbers, rest = eqx.partition(jax.tree.map(jnp.asarray, system.model), eqx.is_inexact_array)
    for derivative in (jax.jacfwd, jax.jacrev):
        assert lowered(derivative(lambda x: rates(eqx.combine(x, rest))), numbers)


def test_reverse_derivatives_of_contacts_lower_for_cuda_without_a_host_callback():
    run = run_of("bouncing ball", PARAMETERS["bouncing ball"])
    assert "stablehlo.while" in lowered(jax.jacrev(run, has_aux=True), 1.0)


def test_a_host_callback_would_be_seen():
    def run(x):
        return jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((), x.dtype), x)

    with pytest.raises(AssertionError):
        lowered(run, jnp.ones(()))
