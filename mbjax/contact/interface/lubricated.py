import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...array import is_concrete
from ...law import Effect, powers
from ...rotation import cross
from ..film import AbstractFilm
from .base import AbstractInterface

_ACROSS = np.array([1.0, 1.0, 0.0])


def film_effect(film, pair, relative, share=1.0):
    """A film's force through the journal's centre, on both sides."""
    offset = relative.displacement * _ACROSS
    velocity = relative.velocity * _ACROSS
    force = share * film.force(offset, velocity, relative.angular[2], pair.radius - pair.clearance, pair.clearance)
    return Effect(
        force,
        -cross(relative.displacement, force),
        jnp.zeros(3),
        jnp.zeros(()),
        powers(film=-jnp.dot(force, velocity)),
        jnp.zeros((pair.points, 0)),
        jnp.zeros(0),
    )


def film_remarks(film, pair):
    """Whether the bearing is as long or as short as the film's law wants it."""
    if not is_concrete(pair.radius, film.length):
        return ()
    ratio, low, high = film.slenderness(pair.radius)
    if low <= ratio <= high:
        return ()
    wanted = f"above {low:g}" if high == np.inf else f"below {high:g}"
    return (f"{type(film).__name__}: length over diameter is {float(ratio):.3g}; the law is for values {wanted}.",)


class Lubricated(AbstractInterface):
    """A film alone: the journal never touches, since the film's force grows without bound towards the wall."""

    film: AbstractFilm
    layers: int = eqx.field(static=True, init=False, default=0)
    bristles: int = eqx.field(static=True, init=False, default=0)
    returns: bool = eqx.field(static=True, init=False, default=False)
    jumps: bool = eqx.field(static=True, init=False, default=False)

    @property
    def silent(self):
        return False

    def remarks(self, pair):
        return film_remarks(self.film, pair)

    def offsets(self):
        return jnp.zeros(0)

    def act(self, pair, relative, points, internal):
        del points, internal
        return film_effect(self.film, pair, relative)
