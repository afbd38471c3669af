"""Lubricant films between a journal and its bearing."""

from .base import AbstractFilm as AbstractFilm
from .short import ShortFilm as ShortFilm
from .squeeze import SqueezeFilm as SqueezeFilm

CATALOGUE = (SqueezeFilm, ShortFilm)
