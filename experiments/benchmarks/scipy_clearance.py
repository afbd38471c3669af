"""SciPy's DOP853 on the planar slider-crank with clearance: minimal coordinates in plain floats, located contacts."""

import math

import numpy as np
from scipy.integrate import solve_ivp

from . import planar_clearance as p2
from .timing import Search, best_of

TURNED = p2.ROD_INERTIA + p2.ROD_MASS * p2.ROD**2 / 4  # of the rod about its pin
# s; with longer steps SciPy does not see some of the contacts.
LONGEST_FLIGHT_STEPS = (3e-5, 2e-5)


def measured(t, x):
    """Depth, its rate, and the normal (from bearing to journal) at rod angle, slider x and their rates."""
    angle, slider, spin, speed = x
    phi = p2.SPEED * t
    c, s = math.cos(angle), math.sin(angle)
    px, py = p2.CRANK * math.cos(phi), p2.CRANK * math.sin(phi)
    gx, gy = slider - px - p2.ROD * c, -py - p2.ROD * s
    distance = math.sqrt(gx * gx + gy * gy)
    vx, vy = speed + p2.SPEED * py + p2.ROD * spin * s, -p2.SPEED * px - p2.ROD * spin * c
    nx, ny = (gx / distance, gy / distance) if distance > 0 else (0.0, 0.0)
    return distance - p2.CLEARANCE, vx * nx + vy * ny, nx, ny


def flight(t, x):
    """Rates while the journal does not touch."""
    angle, _, spin, speed = x.tolist()
    pull = p2.SPEED**2 * p2.CRANK * math.sin(p2.SPEED * t - angle)
    return (spin, speed, 0.5 * p2.ROD_MASS * p2.ROD * pull / TURNED, 0.0)


def contact(t, x, factor):
    """Rates in contact; `factor` is 3 (1 - e^2) / 4 over the speed at touch."""
    angle, slider, spin, speed = x.tolist()
    phi = p2.SPEED * t
    c, s = math.cos(angle), math.sin(angle)
    px, py = p2.CRANK * math.cos(phi), p2.CRANK * math.sin(phi)
    gx, gy = slider - px - p2.ROD * c, -py - p2.ROD * s
    distance = math.sqrt(gx * gx + gy * gy)
    nx, ny = gx / distance, gy / distance
    depth = distance - p2.CLEARANCE
    push = 0.0
    if depth > 0:
        vx, vy = speed + p2.SPEED * py + p2.ROD * spin * s, -p2.SPEED * px - p2.ROD * spin * c
        push = p2.STIFFNESS * depth * math.sqrt(depth) * (1.0 + factor * (vx * nx + vy * ny))
    # The force is normal: its arm about the bearing's centre does not count.
    pull = p2.SPEED**2 * (py * c - px * s)
    moment = p2.ROD * push * (c * ny - s * nx) + 0.5 * p2.ROD_MASS * p2.ROD * pull
    return (spin, speed, moment / TURNED, -push * nx / p2.SLIDER_MASS)


def contact_numpy(t, x, factor):
    """`contact` as one writes it with NumPy."""
    angle, slider, spin, speed = x
    phi = p2.SPEED * t
    pin = p2.CRANK * np.array([np.cos(phi), np.sin(phi)])
    pin_velocity = p2.SPEED * np.array([-pin[1], pin[0]])
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    gap = np.array([slider, 0.0]) - pin - p2.ROD * along
    gap_velocity = np.array([speed, 0.0]) - pin_velocity - p2.ROD * spin * across
    distance = np.linalg.norm(gap)
    n = gap / distance
    push = p2.STIFFNESS * max(distance - p2.CLEARANCE, 0.0) ** 1.5 * (1.0 + factor * (gap_velocity @ n))
    moment = p2.ROD * push * (across @ n) + 0.5 * p2.ROD_MASS * p2.ROD * p2.SPEED**2 * (across @ pin)
    return np.array([spin, speed, moment / TURNED, -push * n[0] / p2.SLIDER_MASS])


def flight_numpy(t, x):
    """`flight` as one writes it with NumPy."""
    pin = p2.CRANK * np.array([np.cos(p2.SPEED * t), np.sin(p2.SPEED * t)])
    across = np.array([-np.sin(x[0]), np.cos(x[0])])
    moment = 0.5 * p2.ROD_MASS * p2.ROD * p2.SPEED**2 * (across @ pin)
    return np.array([x[2], x[3], moment / TURNED, 0.0])


RATES = {"floats": (flight, contact), "NumPy": (flight_numpy, contact_numpy)}


def crossing(t, x, *_):
    """Depth, whose sign change ends a flight or a contact."""
    return measured(t, x.tolist())[0]


def simulate(rtol, longest, rates="floats"):
    """Slider positions at the outputs, accepted steps and evaluations."""
    found = np.full(p2.TIMES.size, np.nan)
    t, x, touching, factor = 0.0, np.array(p2.START), False, 0.0
    steps = evaluations = 0
    while True:
        crossing.terminal, crossing.direction = True, -1 if touching else 1
        here = np.flatnonzero((t <= p2.TIMES) & np.isnan(found))
        # Forces are nil where a contact begins: left alone, the first step would be far too long.
        more = {"args": (factor,), "first_step": min(1e-6, p2.END - t)} if touching else {"max_step": longest}
        run = solve_ivp(
            RATES[rates][touching],
            (t, p2.END),
            x,
            method="DOP853",
            rtol=rtol,
            atol=rtol * np.array([1.0, 1e-3, 1e-2, 1e-3]),
            events=crossing,
            t_eval=p2.TIMES[here],
            **more,
        )
        found[here[: len(run.t)]] = np.reshape(run.y, (4, -1))[1]
        evaluations += run.nfev
        steps += run.nfev // 12
        if run.status != 1:
            return found, steps, evaluations
        t, x, touching = run.t_events[0][0], run.y_events[0][0], not touching
        factor = 0.75 * (1 - p2.RESTITUTION**2) / measured(t, x.tolist())[1] if touching else 0.0


def measure(limit, repeats, rates):
    """The fastest tolerance, and longest step in flight, whose error is within `limit`."""
    best = None
    for longest in LONGEST_FLIGHT_STEPS:
        search = Search(lambda effort, h=longest: p2.error(simulate(1 / effort, h)[0]), limit, confirm=p2.CONFIRM)
        effort, reached = search.run(1e5, 1e12, factor=10.0)
        seconds, (found, steps, evaluations) = best_of(lambda e=effort, h=longest: simulate(1 / e, h, rates), repeats)
        row = {
            "setting": f"rtol {1 / effort:.2g}, about {steps} steps, at most {longest:g} s in flight",
            "error": p2.error(found),
            "seconds": seconds,
            "evaluations": evaluations,
            "reached": reached,
        }
        key = (not reached, seconds if reached else row["error"])
        best = min(best, (key, row), key=lambda entry: entry[0]) if best else (key, row)
    return best[1]
