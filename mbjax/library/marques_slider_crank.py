import numpy as np

from .slider_crank_3d import slider_crank_3d


def marques_slider_crank(*, gravity=9.81, crank_speed=2 * np.pi):
    """P4 and P5's spatial slider-crank with ideal joints: P1's layout with other lengths and masses.

    |AB| .10 m, |BC| .29 m, rod and slider .5 kg; 4e-4 kg m^2 along the rod, 1e-5 along the crank; the crank starts
    vertical and turns at 2 pi rad/s about +x (the papers' frame is turned by 90 degrees about z).
    """
    mechanism = slider_crank_3d(
        crank_length=0.10,
        rod_length=0.29,
        crank_mass=0.12,
        rod_mass=0.5,
        block_mass=0.5,
        crank_inertia=(1e-4, 1e-4, 1e-5),
        rod_inertia=(4e-4, 4e-3, 4e-3),
        block_inertia=(1e-4, 1e-4, 1e-4),
        gravity=gravity,
        crank_speed=crank_speed,
    )
    return mechanism.renamed("marques_slider_crank")
