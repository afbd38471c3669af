"""The numeric kernel: no host callback, lowers for CUDA, jit = no jit, vmap = loop, solvers agree, lanes fail alone."""

import pathlib

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from mbjax.compilation import make_room
from mbjax.constraints import rows_at, scatter_dense
from mbjax.kinematics import motion
from mbjax.redundancy import still
from mbjax.state import Rates, displace

BUILDERS = [
    "pendulum", "double_pendulum", "n_four_bar", "andrews_squeezer", "slider_crank_3d", "planar_slider_crank",
    "four_bar", "triple_pendulum", "marques_slider_crank", "bricard", "flyball_governor", "chain",
]  # fmt: skip
TS = jnp.linspace(0, 0.01, 3)
pytestmark = pytest.mark.filterwarnings("ignore::mbjax.ModelWarning")


def build(name):
    system = mb.assemble(getattr(mb.library, name)())
    return system, mb.initial_state(system)


def final(system, state, mass_factor=1.0, **options):
    import equinox as eqx

    system = eqx.tree_at(lambda s: s.model.mass, system, system.model.mass * mass_factor)
    trajectory = mb.simulate(system, state, TS, throw=False, **options)
    return jnp.concatenate([trajectory.final.q.position.ravel(), trajectory.final.q.planar.ravel()])


SOLVERS = [diffrax.Dopri8(), diffrax.Tsit5(), diffrax.Kvaerno5(), mb.Rodas4()]


SLOW = [pytest.param(s, marks=pytest.mark.slow) for s in SOLVERS[1:]]


@pytest.mark.parametrize("solver", [SOLVERS[0], *SLOW], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("transform", ["plain", "tangents", "replay", "vmap"])
def test_kernel_has_no_host_callback_and_lowers_for_cuda(solver, transform):
    system, _ = build("slider_crank_3d")

    def run(factor, adjoint=None):
        state = mb.initial_state(system, throw=False)
        return final(system, state, factor, solver=solver, adjoint=adjoint)

    functions = {
        "plain": run,
        "tangents": jax.jacfwd(run),
        "replay": jax.grad(lambda f: run(f, mb.Replay()).sum()),
        "vmap": jax.vmap(run),
    }
    factor = jnp.ones(3) if transform == "vmap" else 1.0
    traced = jax.jit(functions[transform]).trace(factor)
    assert "callback" not in str(traced.jaxpr)
    assert traced.lower(lowering_platforms=("cuda",)).as_text()


def lowered(function, *arguments):
    """The program for CUDA, after a look for callbacks."""
    traced = jax.jit(function).trace(*arguments)
    assert "callback" not in str(traced.jaxpr)
    return traced.lower(lowering_platforms=("cuda",)).as_text()


def end_of(name):
    """The end of a short run as a function of one mass, initial state included."""
    system = mb.assemble(getattr(mb.library, name)())
    path = next(p for p in system.mechanism.parameters() if p.endswith(".mass"))

    def end(mass):
        bound = system.bind({path: mass})
        final = mb.simulate(bound, mb.initial_state(bound), TS, throw=False).final
        return jnp.concatenate([x.ravel() for x in jax.tree.leaves((final.q, final.v))])

    return end, float(system.mechanism.value(path))


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDERS)
def test_initial_state_batches_and_tangents_of_every_builder_lower_for_cuda_without_a_host_callback(name):
    end, mass = end_of(name)
    assert "stablehlo.while" in lowered(jax.vmap(jax.jacfwd(lambda m: (end(m),) * 2, has_aux=True)), mass * jnp.ones(2))


@pytest.mark.long
@pytest.mark.parametrize("name", BUILDERS)
def test_gradients_of_every_builder_lower_for_cuda_without_a_host_callback(name):
    end, mass = end_of(name)
    assert "stablehlo.while" in lowered(jax.grad(lambda m: jnp.sum(end(m) ** 2)), mass)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDERS)
def test_constraint_jacobian_matches_differences(name, random):
    system, state = build(name)
    structure, model = system.structure, system.model

    def residual(q):
        return rows_at(structure, model, motion(model, q, still(structure)), 0.0).residual

    q = state.q
    moving = motion(model, q, still(structure))
    dense = np.asarray(scatter_dense(structure, rows_at(structure, model, moving, 0.0), structure.bodies))
    h = 1e-6
    for _ in range(3):
        step = Rates(*(jnp.asarray(random.standard_normal(x.shape)) for x in state.v.__dict__.values()))
        speeds = motion(model, q, step)
        twist = jnp.concatenate([speeds.velocity, speeds.angular], axis=-1)[: structure.bodies].ravel()
        up = residual(displace(q, jax.tree.map(lambda x: h * x, step)))
        down = residual(displace(q, jax.tree.map(lambda x: -h * x, step)))
        np.testing.assert_allclose(dense @ twist, (up - down) / (2 * h), atol=2e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILDERS)
def test_vmap_over_a_mass_equals_a_loop_and_jit_equals_no_jit(name):
    system, state = build(name)
    factors = jnp.array([0.9, 1.0, 1.2])
    options = {"steps": mb.Adaptive(rtol=1e-9)}
    batch = jax.jit(jax.vmap(lambda f: final(system, state, f, **options)))(factors)
    loop = jnp.stack([final(system, state, f, **options) for f in factors])
    np.testing.assert_allclose(batch, loop, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "rtol", [pytest.param(1e-6, marks=pytest.mark.slow), pytest.param(1e-9, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("name", BUILDERS)
def test_stiff_and_explicit_solvers_agree(name, rtol):
    system, state = build(name)
    ends = [
        final(system, state, solver=solver, steps=mb.Adaptive(rtol=rtol), max_steps=5000)
        for solver in (diffrax.Dopri8(), diffrax.Kvaerno5(), mb.Rodas4())
    ]
    scale = jnp.max(jnp.abs(ends[0]))
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], rtol=100 * rtol, atol=100 * rtol * scale)


def test_a_failed_lane_fails_alone():
    system, state = build("slider_crank_3d")
    factors = jnp.array([1.0, jnp.nan, 1.2])
    batch = jax.vmap(lambda f: final(system, state, f))(factors)
    assert np.isnan(batch[1]).any()
    for k in (0, 2):
        np.testing.assert_allclose(batch[k], final(system, state, factors[k]), rtol=1e-10, atol=1e-15)


def test_failure_says_why_and_leaves_no_invented_numbers():
    system, state = build("slider_crank_3d")
    with pytest.raises(mb.SimulationError, match="largest number of steps"):
        mb.simulate(system, state, [0.0, 1.0], max_steps=3)
    trajectory = mb.simulate(system, state, [0.0, 1.0], max_steps=3, throw=False)
    assert not trajectory.result.success
    assert np.isnan(np.asarray(trajectory["slider.position.x"])[-1])
    system, state = build("pendulum")
    gradient = jax.grad(
        lambda m: mb.simulate(system.bind({"bob.mass": m}), state, jnp.array([0.0, 1.0]), max_steps=3, throw=False)[
            "bob.position.x"
        ][-1]
    )(0.5)
    assert np.isnan(gradient)


def test_reading_channels_does_not_change_the_motion():
    system, state = build("slider_crank_3d")
    first = mb.simulate(system, state, TS)
    first["B.reaction.x"], first.energy
    again = mb.simulate(system, state, TS)
    assert all(jnp.array_equal(a, b) for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True))


def test_another_number_is_no_other_program():
    traces = []
    square = mb.compiled(lambda x, *, shift: traces.append(0) or x**2 + shift)
    assert [float(square(x, shift=2 * x)) for x in (1.0, 2.0, 3.0)] == [3.0, 8.0, 15.0] and len(traces) == 1


def test_room_for_compiled_programs_is_made_before_linux_refuses_more():
    maps = pathlib.Path("/proc/self/maps")
    if not maps.exists():
        assert not make_room(0.0)
        return
    system, state = build("pendulum")
    first = mb.simulate(system, state, TS)
    before = maps.read_bytes().count(b"\n")
    assert not make_room(1.0)
    assert make_room(0.0)
    assert maps.read_bytes().count(b"\n") < before
    np.testing.assert_array_equal(mb.simulate(system, state, TS).final.q.position, first.final.q.position)
