"""Films: Ocvirk's load, pressures integrated by quadrature, corners rounded, validity."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import mbjax as mb


def test_rounded_half_film_has_no_corner_where_the_approach_turns():
    def force(v, smoothing):
        film = mb.SqueezeFilm(0.4, 0.04, cavitation=True, smoothing=smoothing)
        return film.force(jnp.array([2e-4, 0, 0]), jnp.array([1.0, 0, 0]) * v, 0.0, 0.01, 5e-4)[0]

    slope = jax.grad(force)
    sharp, rounded = (slope(1e-9, w) / slope(-1e-9, w) for w in (0.0, 1e-3))
    assert sharp > 1.5 and abs(rounded - 1) < 1e-5
    assert force(0.1, 1e-3) == force(0.1, 0.0) and force(-0.1, 1e-3) == force(-0.1, 0.0)


@pytest.mark.parametrize(("eps", "load", "attitude"), [
    (0.2, 0.1725466860, 75.43120794), (0.5, 0.7503810818, 53.68020060), (0.8, 5.7313280693, 30.50015339),
])  # fmt: skip
def test_short_bearing_carries_ocvirks_load(eps, load, attitude):
    mu, length, radius, c, speed = 0.02, 0.02, 0.025, 50e-6, 300.0
    film = mb.ShortFilm(mu, length)
    force = film.force(jnp.array([eps * c, 0, 0]), jnp.zeros(3), jnp.array(speed), jnp.array(radius), jnp.array(c))
    scale = mu * speed * radius * length**3 / c**2
    np.testing.assert_allclose(jnp.hypot(force[0], force[1]) / scale, load, rtol=1e-8)
    np.testing.assert_allclose(np.degrees(np.arctan2(force[1], -force[0])), attitude, rtol=1e-8)


@pytest.mark.parametrize("cavitation", [True, False])
def test_short_bearing_with_squeeze_is_the_integral_of_its_pressure(cavitation, random):
    film = mb.ShortFilm(1.0, 1.0, cavitation=cavitation)
    for _ in range(5):
        eps, rate, side, spin = random.uniform(0, 0.9), *random.normal(size=3)
        found = film.force(jnp.array([eps, 0, 0]), jnp.array([rate, side, 0]), jnp.array(spin), 1.0, 1.0)

        def pressure(angle, eps=eps, rate=rate, side=side, spin=spin):
            p = ((spin * eps - 2 * side) * np.sin(angle) - 2 * rate * np.cos(angle)) / (1 + eps * np.cos(angle)) ** 3
            return max(p, 0.0) if cavitation else p

        zero = np.arctan2(2 * rate, spin * eps - 2 * side)
        parts = [
            quad(lambda a, f=f: 0.5 * pressure(a) * f(a), a, a + np.pi, epsabs=1e-12, epsrel=1e-12)[0]
            for f in (np.cos, np.sin) for a in (zero, zero + np.pi)
        ]  # fmt: skip
        np.testing.assert_allclose(found[:2], [parts[0] + parts[1], parts[2] + parts[3]], rtol=1e-8, atol=1e-9)


def test_squeeze_film_matches_p2():
    mu, length, radius, c, extra, eps, rate = 0.4, 0.04, 0.0095, 0.5e-3, 10e-6, 0.6, 0.3
    gap = c + extra
    film = mb.SqueezeFilm(mu, length, extra)
    force = film.force(jnp.array([eps * gap, 0, 0]), jnp.array([rate, 0, 0]), 0.0, jnp.array(radius), jnp.array(c))
    expected = 12 * np.pi * mu * length * radius**3 * (rate / gap) / (gap**2 * (1 - eps**2) ** 1.5)
    np.testing.assert_allclose(force, [-expected, 0, 0], rtol=1e-12)
    half = mb.SqueezeFilm(mu, length, extra, cavitation=True)

    def pressure(a):  # P2 33 with R^2
        return np.cos(a) ** 2 * (2 - eps * np.cos(a)) / (1 - eps * np.cos(a)) ** 2

    near, far = (quad(pressure, a, a + np.pi, epsrel=1e-12)[0] for a in (-np.pi / 2, np.pi / 2))
    scale = 6 * mu * length * radius**3 / gap**3
    for speed, area in ((rate, near), (-rate, far)):
        force = half.force(jnp.array([eps * gap, 0, 0]), jnp.array([speed, 0, 0]), 0.0, jnp.array(radius), jnp.array(c))
        np.testing.assert_allclose(force[0], -scale * speed * area, rtol=1e-10)


def test_a_film_outside_its_slenderness_warns():
    with pytest.warns(mb.ModelWarning, match="length over diameter"):
        mb.Clearance(mb.CircleInCircle(0.01, 1e-4), mb.Lubricated(mb.SqueezeFilm(0.4, 0.01)))
