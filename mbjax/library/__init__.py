"""Mechanisms of the papers and the smallest ones used in tests: one builder per file."""

from .andrews_squeezer import andrews_squeezer as andrews_squeezer
from .bouncing_ball import bouncing_ball as bouncing_ball
from .bricard import bricard as bricard
from .bushing_rig import bushing_rig as bushing_rig
from .chain import chain as chain
from .flyball_governor import flyball_governor as flyball_governor
from .four_bar import four_bar as four_bar
from .four_bar_clearance import four_bar_clearance as four_bar_clearance
from .journal_bearing import journal_bearing as journal_bearing
from .marques_slider_crank import marques_slider_crank as marques_slider_crank
from .marques_slider_crank_clearance import marques_slider_crank_clearance as marques_slider_crank_clearance
from .n_four_bar import n_four_bar as n_four_bar
from .pendulum import double_pendulum as double_pendulum
from .pendulum import pendulum as pendulum
from .planar_slider_crank import planar_slider_crank as planar_slider_crank
from .planar_slider_crank_clearance import planar_slider_crank_clearance as planar_slider_crank_clearance
from .slider_crank_3d import slider_crank_3d as slider_crank_3d
from .slider_crank_3d_clearance import slider_crank_3d_revolute_clearance as slider_crank_3d_revolute_clearance
from .slider_crank_3d_clearance import slider_crank_3d_spherical_clearance as slider_crank_3d_spherical_clearance
from .suspension_corner import suspension_corner as suspension_corner
from .triple_pendulum import triple_pendulum as triple_pendulum
