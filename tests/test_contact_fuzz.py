"""No NaN or Inf in value, first and second derivative: laws on their own, and mechanisms at more than 10 000 states.

States lie around the start pose, off by amounts of clearance size, with velocities and bristles over decades and every
mode whatever the depth; among them exactly concentric ones, exactly touching ones, zero slip and standing still.
"""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import mbjax as mb
from mbjax.contact.normal import elastic
from mbjax.contact.pair.base import contact
from mbjax.dynamics import accelerations, rates_of
from mbjax.element.characteristic import Polynomial
from mbjax.interactions import measure
from mbjax.kinematics import Relative
from mbjax.law import CLOSED, OPEN, RETURNING, Points
from mbjax.state import Coordinates, Memory, Rates

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::mbjax.ModelWarning")]
STATES = 920
# Nothing here runs long enough to pay for optimised code.
QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}

COMPLIANCE = 2 * (1 - 0.3**2) / (np.pi * 207e9)
ELASTIC = {
    "Linear": elastic.Linear(1e6),
    "Hertz": elastic.Hertz(6.6e10),
    "Pereira": elastic.Pereira(0.5e-3, 0.02, 1.1e11),
    "Pereira, narrow": elastic.Pereira(0.02e-3, 0.02, 1.1e11),
    "Pereira, external": elastic.Pereira(0.02, 0.02, 1.1e11, internal=False),
    "DubowskyFreudenstein": elastic.DubowskyFreudenstein(0.010, 0.0095, 0.015, COMPLIANCE),
    "Esdu78035": elastic.Esdu78035(0.010, 0.0095, 0.015, COMPLIANCE),
    "Tabulated": elastic.Tabulated([0, 1e-6, 1e-5], [0, 5.0, 200.0]),
}
HARD = mb.Impact(mb.Hertz(1e10), mb.Flores(0.7))
NORMAL = {f"Impact, {name}": mb.Impact(law, mb.LankaraniNikravesh(0.9)) for name, law in ELASTIC.items()} | {
    "Impact, raw": mb.Impact(mb.Hertz(1e10), mb.Gonthier(0.5), mb.Raw(), mb.Allowed()),
    "Impact, clipped": mb.Impact(mb.Hertz(1e10), mb.HuntCrossley(0.5), mb.Clip()),
    "Impact, smooth": mb.Impact(mb.Hertz(1e10), mb.Flores(0.5), smoothing=1e-6),
    "RestitutionSpring": mb.RestitutionSpring(mb.Hertz(1e10), 0.8),
    "SmoothRestitutionSpring": mb.SmoothRestitutionSpring(elastic.Linear(1e6), 0.8, 0.1),
    "DampedLayer": mb.DampedLayer(elastic.Linear(1e6), 20.0),
    "Staged, weighted": mb.Staged(mb.DampedLayer(elastic.Linear(1e6), 10.0), HARD, 1e-4, 1e-5),
    "Staged, exponential": mb.Staged(HARD, HARD, 1e-4, 1e-5, mb.Exponential()),
}
FRICTION = {
    "Frictionless": mb.Frictionless(),
    "Coulomb": mb.Coulomb(0.2),
    "Threlfall": mb.Threlfall(0.2),
    "Ambrosio": mb.Ambrosio(0.2),
    "Stribeck": mb.Stribeck(0.1, 0.2, viscosity=3.0),
    "PiecewiseLinear": mb.PiecewiseLinear(0.1, 0.15),
    "BengisuAkay": mb.BengisuAkay(0.1, 0.15),
    "Dahl": mb.Dahl(0.1),
    "LuGre": mb.LuGre(0.1, 0.2, viscosity=0.5),
    "LuGre, printed": mb.LuGre(0.1, 0.2, printed=True),
}
FILMS = {
    "SqueezeFilm": mb.SqueezeFilm(0.4, 0.04, 1e-5),
    "SqueezeFilm, half": mb.SqueezeFilm(0.4, 0.04, 1e-5, cavitation=True),
    "ShortFilm": mb.ShortFilm(0.02, 0.005, 1e-5, cavitation=False),
    "ShortFilm, half": mb.ShortFilm(0.02, 0.005, 1e-5),
}
PAIRS = {
    "CircleInCircle": mb.CircleInCircle(0.01, 5e-4),
    "CircleInCircle, no clearance": mb.CircleInCircle(0.01, 0.0),
    "BallInSocket": mb.BallInSocket(0.01, 5e-4),
    "BallOnPlane": mb.BallOnPlane(5e-4),
    "CylinderInCylinder": mb.CylinderInCylinder(0.01, 5e-4, 0.02, 0.021, strips=3),
    "JournalInBearing": mb.JournalInBearing(0.01, 5e-4, 0.02, 5e-4),
    "SliderInGuide": mb.SliderInGuide(0.04, 0.02, 5e-4),
}


# --- mechanisms ----------------------------------------------------------------------------------------------------


def rotor(interfaces, radius=0.01, clearance=5e-4):
    """One planar body in many bearings at its centre: connection after connection with another interface."""
    joints = [
        mb.Connection(
            f"bearing{k}", mb.frame((0, 0, 0), (0, 0, 1), (1, 0, 0)), journal="rotor",
            realisation=mb.Clearance(mb.CircleInCircle(radius, clearance), interface),
        )
        for k, interface in enumerate(interfaces)
    ]  # fmt: skip
    return mb.Mechanism("rotor", [mb.PlanarBody("rotor", 1.0, 1e-3)], joints)


def guided():
    """A slider with clearance in its guide and spring-like walls."""
    wall = mb.Dry(mb.RestitutionSpring(mb.Hertz(1e9), 0.8), mb.Coulomb(0.1))
    guide = mb.Connection(
        "guide", mb.frame((0, 0, 0), (1, 0, 0), (0, 0, 1)), journal="slider",
        realisation=mb.Clearance(mb.SliderInGuide(0.04, 0.02, 5e-4), wall),
    )  # fmt: skip
    return mb.Mechanism("guided", [mb.PlanarBody("slider", 1.0, 1e-3)], [guide])


def bushed():
    """A body in a bushing with every branch."""
    branches = [
        mb.Maxwell([500.0] * 3 + [1.0] * 3, 0.02),
        mb.BoucWen([800.0] * 3 + [1.0] * 3, [2.0] * 3 + [0.05, 0.05, 0.0]),
        mb.Curve("radial", Polynomial([0.0, 0.0, 1e5])),
        mb.Curve("turn_b", Polynomial([0.0, 0.0, 10.0])),
    ]
    bushing = mb.Bushing([500.0] * 3 + [2.0] * 3, damping=[1.0] * 3 + [0.01] * 3, branches=branches)
    body = mb.SpatialBody("body", 1.0, (0.01, 0.02, 0.03))
    joint = mb.Connection("mount", mb.frame((0, 0, 0), (0, 0, 1)), journal="body", realisation=bushing)
    return mb.Mechanism("mounted", [body], [joint])


# Builder and size of the offsets (m). Laws that are left out here (compiling is slow) are fuzzed on their own below.
SYSTEMS = {
    "rotor, springs": (
        lambda: rotor([
            mb.Dry(NORMAL[k])
            for k in ("RestitutionSpring", "SmoothRestitutionSpring", "DampedLayer", "Staged, weighted")
        ]), 5e-4
    ),
    "rotor, films": (lambda: rotor([mb.Lubricated(film) for film in FILMS.values()]), 3.5e-4),
    "rotor, hybrids": (
        lambda: rotor([mb.Hybrid(FILMS[k], mb.Dry(HARD), 5e-6) for k in ("SqueezeFilm, half", "ShortFilm, half")]),
        5e-4,
    ),
    "slider in guide": (guided, 5e-4),
    "bouncing ball": (lambda: mb.library.bouncing_ball(height=0.0, interface=mb.Dry(HARD, mb.Threlfall(0.1))), 1e-4),
    "bushing": (bushed, 1e-2),
    "planar slider-crank": (lambda: mb.library.planar_slider_crank_clearance(friction=FRICTION["Dahl"]), 5e-4),
    "four-bar": (lambda: mb.library.four_bar_clearance(friction=FRICTION["PiecewiseLinear"]), 2e-4),
    "slider-crank, ball staged": (
        lambda: mb.library.slider_crank_3d_spherical_clearance(interface=mb.Dry(NORMAL["Staged, exponential"])), 1e-3
    ),
    "slider-crank, strips and stops": (mb.library.slider_crank_3d_revolute_clearance, 1e-3),
    "slider-crank, journal in bearing": (
        lambda: mb.library.marques_slider_crank_clearance(friction=mb.LuGre(0.1, 0.2)), 5e-4
    ),
    "triple pendulum, impact": (lambda: mb.library.triple_pendulum(stops="impact"), 0.3),
}  # fmt: skip
ALONE = {"rotor, films"}  # without a value at the wall


def build(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelWarning)
        return mb.assemble(SYSTEMS[name][0]())


# --- derivatives ---------------------------------------------------------------------------------------------------


def movable(tree):
    """`(names, combine)`: every number of a tree, and the tree with offsets, one per array, added to them."""
    numbers, rest = eqx.partition(tree, eqx.is_inexact_array_like)
    named, definition = jax.tree_util.tree_flatten_with_path(numbers)

    def combine(offsets):
        moved = [leaf + offset for (_, leaf), offset in zip(named, offsets, strict=True)]
        return eqx.combine(jax.tree.unflatten(definition, moved), rest)

    return [jax.tree_util.keystr(path) for path, _ in named], combine


def check_finite(function, points, settings, random, names, units=None):
    """Value, first and second derivative along `units` (by default: by every argument) at rows of `points`.

    The second derivative is by each unit and a random direction. A partial derivative that is not finite spoils every
    direction that has a share of it, so a few dense units find what all arguments in turn would find. `settings` is a
    tree of arrays with the same rows, by which nothing is differentiated. Returns the values.
    """
    units = np.eye(points.shape[1]) if units is None else random.normal(size=(units, points.shape[1]))
    along = jnp.asarray(random.normal(size=points.shape))

    def derivatives(x, fixed, along):
        def each(unit):
            return jax.jvp(lambda y: jax.jvp(lambda z: function(z, fixed), (y,), (unit,)), (x,), (along,))

        return jax.vmap(each)(jnp.asarray(units))

    arguments = points, settings, along
    run = jax.jit(jax.vmap(derivatives)).lower(*arguments).compile(compiler_options=QUICK)
    (value, first), (slope, second) = run(*arguments)
    faults = []
    for what, found in (("value", value[:, :1]), ("first", first), ("along", slope[:, :1]), ("second", second)):
        bad = ~np.isfinite(np.asarray(found))
        if bad.any():
            row, unit, output = np.argwhere(bad)[0]
            by = dict(zip(names, units[unit], strict=True))
            faults.append(
                f"{what}: output {output} at {bad.any(axis=(1, 2)).sum()} states, first at {row}, along "
                f"{ {k: x for k, x in by.items() if x} }: {np.asarray(points[row]).tolist()}, "
                f"{jax.tree.map(lambda x: x[row], settings)}"
            )
    assert not faults, "\n".join(faults)
    assert np.abs(second).max() > 0
    return np.asarray(value[:, 0])


def decades(random, low, high, *shape):
    """Normal numbers whose size varies over decades from row to row; a fifth of the rows is zero."""
    rows = (shape[0],) + (1,) * (len(shape) - 1)
    size = 10.0 ** random.uniform(low, high, rows) * (random.random(rows) > 0.2)
    return size * random.normal(size=shape)


def draw_points(random, count, points):
    """Memory of contacts over every mode and decades of the speed at touch, as if nobody cared for the depth."""
    mode = random.choice([OPEN, CLOSED, CLOSED, RETURNING], (count, points))
    inverse = np.where(mode == OPEN, 0.0, 10.0 ** random.uniform(-2, 6, (count, points)))
    zero = np.zeros((count, points))
    return Points(jnp.asarray(mode), jnp.asarray(inverse), *[jnp.asarray(zero)] * 3)


def draw_states(random, system, size, touching):
    """Positions, velocities and internal states (rows): off the start pose by up to `size` and less."""
    model, structure = system.model, system.structure
    n, k, count = structure.spatial, structure.planar, STATES
    rows = np.arange(count)
    share = 10.0 ** -random.uniform(0, 5, count) * (rows % 7 > 0)
    reach = (size * share)[:, None, None]
    turn = (np.minimum(size * 50, 0.5) * share)[:, None, None]
    position = np.asarray(model.start_position) + reach * random.uniform(-1, 1, (count, n, 3))
    orientation = np.asarray(model.start_orientation) + turn * random.uniform(-1, 1, (count, n, 4))
    orientation /= np.linalg.norm(orientation, axis=-1, keepdims=True)
    planar = np.asarray(model.start_planar) + np.concatenate(
        [reach * random.uniform(-1, 1, (count, k, 2)), turn * random.uniform(-1, 1, (count, k, 1))], axis=-1
    )
    if touching:  # exactly, where the pose at start is exactly concentric
        moved = planar if k else position
        moved[1::7] = np.asarray(model.start_planar if k else model.start_position)
        moved[1::7, -1, 0] += np.where(rows[1::7] % 2, size, -size)
        orientation[1::7] = np.asarray(model.start_orientation)
    going = (random.random(count) < 0.5)[:, None, None]
    speeds = [
        going * np.asarray(start) + decades(random, -8, 2, count, *np.shape(start))
        for start in (model.start_velocity, model.start_angular, model.start_planar_rate)
    ]
    still = rows % 10 == 3
    speeds = [np.where(still[:, None, None], 0.0, x) for x in speeds]
    internal = decades(random, -10, -4, count, structure.internals)
    return Coordinates(position, orientation, planar), Rates(*speeds), internal


@pytest.mark.parametrize("name", SYSTEMS)
def test_accelerations_have_finite_first_and_second_derivatives(name, random):
    system = build(name)
    structure = system.structure
    laws, moved = movable(system.model.laws)
    q, v, internal = draw_states(random, system, SYSTEMS[name][1], name not in ALONE)
    trees = q, v, internal, np.zeros((STATES, len(laws)))
    _, back = ravel_pytree(jax.tree.map(lambda x: jnp.asarray(x[0]), trees))
    rows = jnp.concatenate([jnp.asarray(x).reshape(STATES, -1) for x in jax.tree.leaves(trees)], axis=1)
    points = draw_points(random, STATES, structure.points)
    spin = jnp.zeros(len(structure.connection_names))

    def motion(x, points):
        q, v, internal, offsets = back(x)
        model = eqx.tree_at(lambda m: m.laws, system.model, moved(offsets))
        memory = Memory(spin, points)
        solution, moving, _, applied = accelerations(structure, model, q, v, internal, memory, 0.0)
        depths = jnp.concatenate(measure(structure, model, moving, memory)) if structure.points else jnp.zeros(0)
        books = jnp.append(applied.dissipated, applied.stored)
        return jnp.concatenate([rates_of(solution), solution.multipliers, applied.internal_rate, books, depths])

    names = [f"{k}[{i}]" for k in ("q", "v") for i in range(sum(x[0].size for x in jax.tree.leaves((q, v)[k == "v"])))]
    names += [f"internal[{i}]" for i in range(structure.internals)] + laws
    check_finite(motion, rows, points, random, names, units=6)


# --- laws on their own ---------------------------------------------------------------------------------------------


def stacked(*columns):
    """Rows of arguments from columns (rows,) or (rows, n)."""
    return jnp.asarray(np.concatenate([c if c.ndim == 2 else c[:, None] for c in columns], axis=1))


@pytest.mark.parametrize("name", FRICTION)
def test_friction_laws_have_finite_derivatives_by_their_parameters_too(name, random):
    law = FRICTION[name]
    numbers, moved = movable(law)
    m = law.bristles
    normal = np.abs(decades(random, -6, 4, 400))
    normal[::9] = 1e-2  # the floor of the bristle laws
    slip = decades(random, -12, 1, 400, 3)
    slip[::11] = np.array([[1e-4, 0, 0]])  # on the kinks
    slip[1::11] = np.array([[0, 1e-3, 0]])

    def force(x, _):
        found = moved(x[4 + m :])(x[None, :3], x[3:4], x[None, 4 : 4 + m])
        return jnp.concatenate([part.ravel() for part in found])

    rows = stacked(slip, normal, decades(random, -10, -3, 400, m), np.zeros((400, len(numbers))))
    names = ["slip x", "slip y", "slip z", "normal", *(f"bristle {k}" for k in range(m)), *numbers]
    if name == "Frictionless":
        assert not force(rows[0], None).any()
    else:
        check_finite(force, rows, None, random, names)


@pytest.mark.parametrize("name", NORMAL)
def test_normal_laws_have_finite_derivatives_by_their_parameters_too(name, random):
    law = NORMAL[name]
    numbers, moved = movable(law)
    depth = np.abs(decades(random, -18, -4, 400)) * random.choice([-1, 1, 1], 400)
    depth[:9] = [0, 1e-6, 1e-5, 1e-4, 1.1e-4, 1.05e-4, 1.001e-4, 1.00001e-4, 1e-300]  # ends of tables and stages
    rate = decades(random, -8, 2, 400)
    points = draw_points(random, 400, law.layers)
    rate[::5] = 1 / np.maximum(np.asarray(points.inverse_speed)[::5, 0], 1e-3)  # on the corner of the ratio

    def press(x, points):
        memory = jax.tree.map(lambda a: a[:, None], points)
        found = moved(x[2:]).press(x[:1], x[1:2], memory)
        return jnp.concatenate([found.force, found.elastic, found.stored])

    rows = stacked(depth, rate, np.zeros((400, len(numbers))))
    check_finite(press, rows, points, random, ["depth", "rate", *numbers])


def draw_poses(random, count, size):
    """Displacement and rotation of a journal, some exactly concentric, aligned or on the wall."""
    place = decades(random, -6, 0, count, 3) * size
    place[1::8] = size * np.array([0.0, 0.0, 1.0])
    place[2::8] = size * np.array([1.0, 0.0, 0.0])
    place[3::8] = size * np.array([0.0, -1.0, 0.0])
    vector = decades(random, -10, -1, count, 3)
    skew = np.cross(np.eye(3)[None], vector[:, None, :])
    turn = np.linalg.solve(np.eye(3) + skew / 2, np.eye(3) - skew / 2)  # Cayley: exactly aligned for no tilt
    return place, turn.reshape(count, 9)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_have_finite_derivatives_and_touch_at_depth_zero(name, random):
    pair = PAIRS[name]
    numbers, moved = movable(pair)

    def meet(x, _):
        relative = Relative(x[:3], x[3:12].reshape(3, 3), x[12:15], x[15:18], x[18:21], jnp.zeros(()))
        return ravel_pytree(contact(moved(x[21:]), relative))[0]

    speeds = [decades(random, -8, 2, 400, 3) for _ in range(3)]
    rows = stacked(*draw_poses(random, 400, 5e-4), *speeds, np.zeros((400, len(numbers))))
    sizes = {"displacement": 3, "rotation": 9, "velocity": 3, "angular": 3, "carrier": 3}
    names = [f"{word} {k}" for word, size in sizes.items() for k in range(size)] + numbers
    found = check_finite(meet, rows, None, random, names)
    depths = found[:, : pair.points]
    assert (np.abs(depths) < 2e-18).any(axis=-1).sum() >= 10


@pytest.mark.parametrize("name", FILMS)
def test_films_have_finite_derivatives_by_their_parameters_too(name, random):
    film = FILMS[name]
    numbers, moved = movable(film)
    gap = 5e-4 + 1e-5
    ratio = np.concatenate([np.zeros(50), 1 - 10.0 ** -random.uniform(0, 5, 350)])
    way = random.uniform(0, 2 * np.pi, 400) * (random.random(400) > 0.3)
    place = gap * ratio[:, None] * np.stack([np.cos(way), np.sin(way), 0 * way], axis=-1)
    velocity = decades(random, -8, 1, 400, 3) * np.array([1.0, 1.0, 0.0])
    spin = decades(random, -4, 3, 400)

    def force(x, _):
        return moved(x[9:]).force(x[:3], x[3:6], x[6], x[7], x[8])

    rows = stacked(place, velocity, spin, np.full(400, 0.0095), np.full(400, 5e-4), np.zeros((400, len(numbers))))
    names = [f"{word} {k}" for word in ("eccentricity", "velocity") for k in range(3)]
    names += ["spin", "radius", "clearance", *numbers]
    check_finite(force, rows, None, random, names)
