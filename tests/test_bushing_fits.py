"""Bushings from component tests whose data come from SciPy's integration of their equations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import identification as ident
import mbjax as mb

STIFF, MAXWELL, TIME, WEN, LIMIT = 2e5, 1e5, 0.01, 1.5e5, 60.0
AMPLITUDES, FREQUENCIES = np.array([1e-4, 5e-4, 2e-3]), np.array([1.0, 3.0, 10.0, 30.0, 60.0])
PHASE = np.linspace(0, 2 * np.pi, 64, endpoint=False)
NAMES = {
    "stiffness": "mount.stiffness.2.2",
    "maxwell": "mount.branches.0.stiffness.2.2",
    "time": "mount.branches.0.relaxation_time",
    "wen": "mount.branches.1.stiffness.2",
    "limit": "mount.branches.1.limit.2",
}
TRUE = dict(zip(NAMES, (STIFF, MAXWELL, TIME, WEN, LIMIT), strict=True))


def axial(x):
    return [0.0, 0.0, x, 0.0, 0.0, 0.0]


def bushing():
    branches = (mb.Maxwell(axial(MAXWELL), TIME), mb.BoucWen(stiffness=axial(WEN), limit=axial(LIMIT)))
    return mb.Bushing([1e6, 1e6, STIFF, 50.0, 50.0, 50.0], branches=branches)


def loop(amplitude, frequency):
    """Force over `PHASE` in the steady cycle, by waiting for it."""
    w = 2 * np.pi * frequency

    def rates(t, y):
        speed = amplitude * w * np.cos(w * t)
        share = 0.5 * abs(speed) * y[1] + 0.5 * speed * abs(y[1])
        return [speed - y[0] / TIME, speed - share * WEN / LIMIT]

    cycles = 20 + int(20 * TIME * frequency)
    times = (cycles + PHASE / (2 * np.pi)) / frequency
    found = solve_ivp(
        rates, (0, times[-1]), [0.0, 0.0], t_eval=times, rtol=1e-9, atol=1e-13, max_step=0.02 / frequency
    ).y
    return STIFF * amplitude * np.sin(w * times) + MAXWELL * found[0] + WEN * found[1]


@pytest.fixture(scope="module")
def loops():
    return np.array([[loop(a, f) for f in FREQUENCIES] for a in AMPLITUDES])


@pytest.mark.slow
def test_loops_and_their_derivatives_are_those_of_the_equations(loops):
    found = mb.bushing_rig(bushing(), "b", AMPLITUDES, FREQUENCIES)
    sampled = np.asarray(found.force)[..., ::4]  # 256 steps, 64 phases
    size = np.abs(loops).max(axis=-1, keepdims=True)
    np.testing.assert_allclose(sampled / size, loops / size, atol=1e-4)
    first = 2j * np.mean(loops * np.exp(-1j * PHASE), axis=-1) / AMPLITUDES[:, None]
    np.testing.assert_allclose(found.dynamic_stiffness, np.abs(first), rtol=2e-3)
    np.testing.assert_allclose(found.loss_angle, np.angle(first), atol=2e-3)


def parameters(factors):
    return [
        ident.Parameter(n, path, start=TRUE[n] * f, scale="log")
        for (n, path), f in zip(NAMES.items(), factors, strict=True)
    ]


@pytest.mark.slow
def test_noisy_loops_give_maxwell_and_hysteresis_back(loops, random):
    measured = loops + 2.0 * random.normal(size=loops.shape)
    measured[1, 2, 5:9] = np.nan
    test = ident.BushingTest(
        "loops", "mount", "b", AMPLITUDES, FREQUENCIES, {"force": measured}, {"force": 2.0}, phase=PHASE
    )
    problem = ident.Problem(ident.bushing_holder(bushing()), parameters((0.5, 2.0, 3.0, 0.5, 2.0)), [test])
    assert "4 values are missing" in ident.check(problem).remarks[0]
    result = ident.fit(problem)
    assert result.success and 0.9 < result.redchi < 1.1
    np.testing.assert_allclose(result.x, list(TRUE.values()), rtol=0.02)
    assert np.all(np.abs(result.x - list(TRUE.values())) < 4 * result.stderr)


@pytest.mark.slow
def test_a_study_of_a_table_gives_the_linear_part(tmp_path, loops):
    first = 2j * np.mean(loops * np.exp(-1j * PHASE), axis=-1) / AMPLITUDES[:, None]
    lines = ["amplitude [mm];frequency [Hz];stiffness [N/mm];loss [deg]"]
    for a, row in zip(AMPLITUDES, first, strict=True):
        for f, z in zip(FREQUENCIES, row, strict=True):
            lines.append(f"{1e3 * a:g};{f:g};{abs(z) / 1e3:.6f};{np.degrees(np.angle(z)):.6f}".replace(".", ","))
    (tmp_path / "table.csv").write_text("\n".join(lines))
    (tmp_path / "rig.toml").write_text(ident.bushing_holder(bushing()).to_toml())
    text = 'model = "rig.toml"\n'
    for name, path in NAMES.items():
        text += f'[parameters.{name}]\npath = "{path}"\nstart = {1.5 * TRUE[name]}\nscale = "log"\n'
    text += """
[experiments.table]
file = "table.csv"
bushing = "mount"
deflection = "b"
amplitude = "amplitude [mm]"
frequency = "frequency [Hz]"
channels.dynamic_stiffness = {column = "stiffness [N/mm]", sigma = 0.5}
channels.loss_angle = {column = "loss [deg]", sigma = 0.1}
"""
    (tmp_path / "study.toml").write_text(text)
    study = ident.load_study(tmp_path / "study.toml")
    result = ident.fit(study.problem, **study.settings)
    np.testing.assert_allclose(result.x, list(TRUE.values()), rtol=0.02)
    (tmp_path / "study.toml").write_text(text.replace('bushing = "mount"', 'bushing = "guide"'))
    with pytest.raises(ident.StudyError, match="`guide` is not a bushing"):
        ident.load_study(tmp_path / "study.toml")
    (tmp_path / "study.toml").write_text(
        text.replace('"amplitude [mm]"', '"amplitud [mm]"').replace("loss_angle", "loss")
    )
    with pytest.raises(mb.ModelError) as error:
        ident.load_study(tmp_path / "study.toml")
    assert "Did you mean `amplitude [mm]`" in str(error.value)


def test_faulty_bushing_tests_say_what_is_wrong():
    def test(**changes):
        good = {"amplitudes": [1e-3], "frequencies": [1.0, 2.0], "measured": {"loss_angle": [[0.1, 0.1]]}}
        return ident.BushingTest("t", "mount", "b", **{**good, **changes})

    test()
    for changes, message in (
        ({"measured": {}}, "nothing is measured"),
        ({"measured": {"loss": [[0.1, 0.1]]}}, "channel `loss` is unknown"),
        ({"measured": {"loss_angle": [0.1, 0.1]}}, r"has shape \(2,\); expected \(1, 2\)"),
        ({"measured": {"force": [[[1.0], [1.0]]]}}, "needs the phase"),
        ({"sigma": {"loss_angle": -1.0}}, "sigma -1.0 must be positive"),
    ):
        with pytest.raises(ident.DataError, match=message):
            assert test(**changes).compared
    holder = ident.bushing_holder(bushing())
    with pytest.raises(ident.StudyError, match="no connection `mont`; there are guide, mount"):
        ident.BushingTest("t", "mont", "b", [1e-3], [1.0], {"loss_angle": [[0.1]]}).check(holder)


def test_a_path_reaches_into_a_matrix():
    holder = ident.bushing_holder(bushing())
    assert holder.value("mount.stiffness.2.2") == STIFF
    changed = holder.with_values({"mount.stiffness.2.2": 3.0, "mount.stiffness.0.1": 2.0})
    assert changed.value("mount.stiffness.2.2") == 3.0 and changed.value("mount.stiffness.1.0") == 0.0
    assert changed.value("mount.stiffness.0.1") == 2.0 and changed.value("mount.stiffness.1.1") == 1e6
    for path in ("mount.stiffness.6.0", "mount.stiffness.0.0.0", "mount.stiffness.q"):
        with pytest.raises(mb.ModelError, match="has no component"):
            holder.value(path)
