import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import smooth
from ...array import is_concrete, number
from ...law import Effect
from ..film import AbstractFilm
from ..normal.staged import AbstractBlend, Weighted
from ..pair.base import contact
from .base import AbstractInterface
from .dry import Dry
from .lubricated import film_effect, film_remarks

_ACROSS = np.array([1.0, 1.0, 0.0])


class Hybrid(AbstractInterface):
    """Film, then dry contact (P2 35): between eccentricity c and c + `boundary` (P2's e0) the film's force fades out
    and the dry one in: linearly, or by another `blend`. The film must reach beyond: its `extra` (P2's e1) exceeds
    `boundary`.
    """

    film: AbstractFilm
    dry: Dry
    boundary: np.ndarray = eqx.field(converter=number, metadata={"unit": "m"})  # m
    blend: AbstractBlend = eqx.field(default_factory=Weighted)

    def __check_init__(self):
        if is_concrete(self.film.extra, self.boundary) and not 0 < self.boundary < self.film.extra:
            raise ValueError(
                f"Hybrid: boundary {float(self.boundary):g} m must lie between 0 and the film's extra clearance "
                f"{float(self.film.extra):g} m, or the film's force becomes infinite before dry contact takes over."
            )

    @property
    def layers(self):
        return self.dry.layers

    @property
    def bristles(self):
        return self.dry.bristles

    @property
    def returns(self):
        return self.dry.returns

    @property
    def jumps(self):
        return self.dry.jumps

    @property
    def silent(self):
        return False

    def corner_speeds(self):
        return self.dry.corner_speeds()

    def remarks(self, pair):
        return film_remarks(self.film, pair)

    def offsets(self):
        return self.dry.offsets()

    def act(self, pair, relative, points, internal):
        over = smooth.norm(relative.displacement * _ACROSS) - pair.clearance
        share = self.blend.share(over / self.boundary)
        # Beyond the blend the film has no say, and no value either.
        inside = over < self.boundary
        scale = jnp.where(inside, 1.0, 0.0)
        calm = eqx.tree_at(lambda r: (r.displacement, r.velocity), relative, replace_fn=lambda x: x * scale)
        film = film_effect(self.film, pair, calm, 1 - share)
        touch = contact(pair, relative)
        press = self.dry.normal.press(touch.depth, touch.rate, points)
        dry = self.dry.effect(touch, press, points, internal, share)
        return Effect(
            film.force + dry.force,
            film.moment_bearing + dry.moment_bearing,
            film.moment_journal + dry.moment_journal,
            dry.stored,
            film.dissipated + dry.dissipated,
            dry.internal_rate,
            dry.normal,
        )
