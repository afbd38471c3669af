"""Mechanisms of the papers and the smallest ones used in tests: one builder per file."""

from .andrews_squeezer import andrews_squeezer as andrews_squeezer
from .bricard import bricard as bricard
from .chain import chain as chain
from .flyball_governor import flyball_governor as flyball_governor
from .four_bar import four_bar as four_bar
from .marques_slider_crank import marques_slider_crank as marques_slider_crank
from .n_four_bar import n_four_bar as n_four_bar
from .pendulum import double_pendulum as double_pendulum
from .pendulum import pendulum as pendulum
from .planar_slider_crank import planar_slider_crank as planar_slider_crank
from .slider_crank_3d import slider_crank_3d as slider_crank_3d
from .triple_pendulum import triple_pendulum as triple_pendulum
