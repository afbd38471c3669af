"""Recordings, problems, checks and fits: known answers, refusals with names, resume with the same numbers."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import diffrax
import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb
from experiments.planar_reference import REVOLUTION, STIFFNESS, event_located
from identification.information import DEAD, FLAT, IDENTIFIABLE, NOT_PINNED, TRADE_OFF, verdicts

DROP = pathlib.Path(__file__).parents[1] / "examples" / "drop"
STIFF, BOUNCE = "wall.interface.normal.elastic.stiffness", "wall.interface.normal.hysteresis.restitution"


# --- recordings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "t,x\n0,1.5\n1,2.5\n2,\n",
        "t;x\n0;1,5\n1;2,5\n2;nan\n",
        "\ufeff# rig\nt\tx\n\n0\t1.5\n1\t2.5\n% note\n2\tNA\n",
        "t x\n0 1.5\n1 2.5\n2 -\n",
        '"t","x"\n"0","1.5"\n"1","2.5"\n"2",""\n',
    ],
    ids=["comma", "decimal comma", "BOM, tabs, comments", "blanks", "quotes"],
)
def test_csv_dialects(tmp_path, text):
    path = tmp_path / "run.csv"
    path.write_text(text, encoding="utf-8")
    recording = ident.read_csv(path)
    np.testing.assert_array_equal(recording.times, [0, 1, 2])
    np.testing.assert_array_equal(recording.columns["x"], [1.5, 2.5, np.nan])
    assert "1 of 3 samples are missing" in recording.remarks[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,x\n0,1\n1,2\n1,3\n", r"run.csv:4: time 1 repeats"),
        ("t,x\n# c\n0,1\n2,2\n1,3\n", r"run.csv:5: time 1 runs backward from 2"),
        ("t,x\n0,1\n1,zwei\n", r"run.csv:3: `zwei` in column `x`"),
        ("t,x\n0,1\n1,2,3\n", r"run.csv:3: 3 cells, but the header names 2"),
        ("0,1\n1,2\n2,3\n", r"run.csv:1: the first line holds numbers"),
        ("t,x,x\n0,1,1\n1,2,2\n", r"two columns are called `x`"),
        ("t,x\n0,1\n,2\n2,3\n", r"run.csv:3: the time is missing"),
        ("t,x\n", r"1 lines with content"),
    ],
)
def test_faulty_csv_names_the_line(tmp_path, text, message):
    path = tmp_path / "run.csv"
    path.write_text(text)
    with pytest.raises(ident.DataError, match=message):
        ident.read_csv(path)


def test_the_unit_of_the_time_column_counts(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("t [ms],x\n0,1\n500,2\n2000,3\n")
    np.testing.assert_allclose(ident.read_csv(path).times, [0, 0.5, 2.0])
    np.savez(tmp_path / "run.npz", **{"t [min]": [0.0, 1.0], "x": [1.0, 2.0]})
    np.testing.assert_allclose(ident.read_recording(tmp_path / "run.npz").times, [0, 60.0])
    for unit, message in (("mm", "time column"), ("samples", "time column")):
        path.write_text(f"t [{unit}],x\n0,1\n500,2\n")
        with pytest.raises(ident.DataError, match=message):
            ident.read_csv(path)


def test_gaps_are_reported_and_unknown_columns_suggest(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("t,height\n0,1\n1,2\n2,2\n5,3\n6,3\n")
    recording = ident.read_csv(path)
    assert "1 gaps in time, the longest 3 s after t = 2 s" in recording.remarks[0]
    with pytest.raises(ident.DataError, match="Did you mean `height`"):
        recording.column("hieght")


# --- verdicts ------------------------------------------------------------------------------------------------------


def test_verdicts_name_what_the_data_cannot_tell(random):
    a, b = random.normal(size=(2, 200))
    jacobian = 100 * np.stack([a, b, b, np.zeros(200), b + 1e-3 * random.normal(size=200)], axis=-1)
    known = {v.name: v for v in verdicts(("a", "b", "b2", "dead", "near"), jacobian, np.zeros(5, bool))}
    assert known["a"].word == IDENTIFIABLE
    np.testing.assert_allclose(known["a"].alone, 1 / np.linalg.norm(jacobian[:, 0]))
    assert known["b"].word == FLAT and "b2" in known["b"].partners
    assert known["dead"].word == DEAD
    wrong = verdicts(("a", "b"), jacobian[:, :2], np.zeros(2, bool), inflation=1e4)
    assert [v.word for v in wrong] == [NOT_PINNED, NOT_PINNED] and wrong[0].deviation > 1
    pair = verdicts(("b", "near"), 0.1 * jacobian[:, [1, 4]], np.zeros(2, bool))
    assert [v.word for v in pair] == [TRADE_OFF, TRADE_OFF] and pair[0].partners == ("near",)


# --- fits ----------------------------------------------------------------------------------------------------------


def ball(stiffness=1e6, restitution=0.8):
    law = mb.Dry(mb.Impact(mb.Hertz(stiffness), mb.Flores(restitution)))
    return mb.library.bouncing_ball(height=0.02, interface=law)


def drop(noise, end=0.35, **change):
    """A problem whose data come from another solver at a tighter tolerance."""
    system = mb.assemble(ball())
    ts = np.linspace(0, end, 701)
    run = mb.simulate(system, mb.initial_state(system), ts, steps=mb.Adaptive(rtol=1e-11), solver=diffrax.Dopri5())
    z = np.asarray(run["ball.position.z"]) + noise * np.random.default_rng(0).normal(size=ts.size)
    compared = [ident.Compared("ball.position.z", "z", sigma=change.pop("sigma", 1e-5))]
    experiment = ident.Experiment("drop", ident.Recording(ts, {"z": z}), compared)
    parameters = [
        ident.Parameter("stiffness", STIFF, start=2e6, scale="log"),
        ident.Parameter("restitution", BOUNCE, start=0.7, lower=0.05, upper=1.0),
    ]
    return ident.Problem(ball(), change.pop("parameters", parameters), [experiment], **change)


def test_noise_free_data_give_the_parameters_back():
    found = ident.fit(drop(0.0))
    assert found.success
    np.testing.assert_allclose(found.x, [1e6, 0.8], rtol=1e-6)
    assert all(v.word == IDENTIFIABLE for v in found.verdicts)


def test_noisy_data_give_intervals_that_hold_the_truth(tmp_path):
    found = ident.fit(drop(1e-5, sigma="estimate"))
    assert found.success and found.inflation == 1.0
    assert (np.abs(found.x - [1e6, 0.8]) < 3 * found.stderr).all()
    assert abs(found.channels[0]["sigma"] / 1e-5 - 1) < 0.1
    assert "identifiable" in str(found)
    found.save(tmp_path)
    assert json.loads((tmp_path / "fit.json").read_text())["x"] == found.x.tolist()


@pytest.mark.long
def test_ctrl_c_keeps_the_best_and_a_checkpoint_goes_on_with_the_same_numbers(tmp_path):
    whole = ident.fit(drop(1e-5))
    lines = []

    def interrupt(line):
        lines.append(line)
        if len(lines) == 2:
            raise KeyboardInterrupt

    path = tmp_path / "checkpoint.json"
    first = ident.fit(drop(1e-5), checkpoint=path, note=interrupt)
    assert not first.success and "interrupted" in first.message
    resumed = ident.fit(drop(1e-5), checkpoint=path)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert len(resumed.history) == len(whole.history)
    other = [ident.Parameter("stiffness", STIFF, start=3e6, scale="log")]
    with pytest.raises(ident.StudyError, match="belongs to another study"):
        ident.fit(drop(1e-5, parameters=other), checkpoint=path)
    table = json.loads(path.read_text())
    del table["tracks"][0]["walk"]
    path.write_text(json.dumps(table))
    with pytest.raises(ident.StudyError, match="checkpoint is of another version of mbjax; delete it"):
        ident.fit(drop(1e-5), checkpoint=path)


@pytest.mark.long
def test_an_optax_optimiser_finds_the_same():
    import optax

    method = optax.adam(optax.cosine_decay_schedule(0.1, 100))
    problem = drop(1e-5, steps=mb.Adaptive(rtol=1e-6))
    found = ident.fit(problem, method=method, most=100, horizons=[0.12, 0.35])
    np.testing.assert_allclose(found.x, [1e6, 0.8], rtol=5e-3)
    assert found.chisqr < 3 * found.fun.size
    quick = ident.fit(problem, method=optax.lbfgs(1.0, linesearch=None), most=60, horizons=[0.12, 0.35])
    np.testing.assert_allclose(quick.x, [1e6, 0.8], rtol=1e-3)
    with pytest.raises(ident.StudyError, match=r"optax\.lbfgs\(1\.0, linesearch=None\)"):
        ident.fit(problem, method=optax.lbfgs())
    with pytest.raises(ident.StudyError, match="neither `lm` nor an Optax optimiser"):
        ident.fit(drop(1e-5), method="adam")


@pytest.mark.slow
def test_candidates_are_simulated_side_by_side_and_the_best_become_starts():
    problem, lines = drop(1e-5, steps=mb.Adaptive(rtol=1e-6)), []
    problem.space.start[1] = 0.1  # restitution: bounces where the ball should fly
    points = np.array([[np.log(k), e] for k in (3e5, 1e6, 4e6) for e in (0.2, 0.8)])
    costs = problem.costs(points, 0.35)
    alone = [problem.residuals(u, 0.35) for u in points]
    np.testing.assert_allclose(costs, [0.5 * r @ r for r in alone], rtol=1e-4)
    found = ident.fit(problem, starts=2, candidates=16, horizons=[0.35], most=30, note=lines.append)
    np.testing.assert_allclose(found.x, [1e6, 0.8], rtol=1e-3)
    assert lines[0].startswith("16 candidates up to 0.35 s: best cost")
    with pytest.raises(ident.StudyError, match="2 candidates are fewer than 3 starts"):
        ident.fit(problem, starts=3, candidates=2)


@pytest.mark.slow
def test_check_refuses_what_the_data_cannot_tell():
    both = [
        ident.Parameter("stiffness", STIFF, scale="log"),
        ident.Parameter("exponent", "wall.interface.normal.elastic.exponent", lower=1.0, upper=2.0),
    ]
    before_impact = ident.check(drop(0.0, end=0.06, parameters=both))
    assert not before_impact.ok and [v.word for v in before_impact.verdicts] == [DEAD, DEAD]
    assert "`stiffness` is not identifiable" in before_impact.problems[0]
    good = ident.check(drop(0.0))
    assert good.ok and max(good.derivative_error.values()) < 1e-3


@pytest.mark.long
def test_slider_crank_from_the_event_located_reference():
    """K and e of P2's joint from a turn of the slider's position (2 um), from 2.1 and 0.75 times the truth."""
    ts = np.linspace(0, REVOLUTION, 1201)
    truth = event_located(ts)
    x = truth.states[:, 1] + 2e-6 * np.random.default_rng(1).normal(size=ts.size)
    experiment = ident.Experiment(
        "turn", ident.Recording(ts, {"x": x}), [ident.Compared("slider.position.x", "x", sigma=2e-6)]
    )
    parameters = [
        ident.Parameter("K", "B.interface.normal.elastic.stiffness", start=2.1 * STIFFNESS, scale="log"),
        ident.Parameter("e", "B.interface.normal.hysteresis.restitution", start=0.68, lower=0.1, upper=1.0),
    ]
    problem = ident.Problem(mb.library.planar_slider_crank_clearance(), parameters, [experiment])
    assert len(truth.touches) >= 10
    found = ident.fit(problem, horizons=[0.7e-3, 1.4e-3, 2.8e-3, 5.6e-3, REVOLUTION])
    assert abs(found.x[0] / STIFFNESS - 1) < 1e-3 and abs(found.x[1] - 0.9) < 1e-4
    at_once = ident.fit(problem, horizons=[REVOLUTION], most=12)
    assert at_once.chisqr > 10 * found.chisqr  # why the horizon grows


# --- studies and command line --------------------------------------------------------------------------------------


def command(*arguments):
    return [sys.executable, "-m", "mbjax", *map(str, arguments)]


FAULTS = [
    ('model = "model.toml"', 'model = "modell.toml"', "modell.toml: the model file cannot be read"),
    ("wall.interface.normal.elastic.stiffness", "wall.interface.normal.elastic.stifness", "Did you mean `stiffness`"),
    ('scale = "log"', 'scale = "logarithmic"', "scale `logarithmic` is unknown"),
    ("lower = 0.05", "lower = 2.0", "lower 2 must be below upper 1"),
    ("upper = 1.0", "upper = 0.5", "start 0.7 lies outside its bounds"),
    ('file = "drop.csv"', 'file = "drops.csv"', "drops.csv: the recording cannot be read"),
    ('column = "z [mm]"', 'column = "z"', "Did you mean `z [mm]`"),
    ('"ball.position.z"', '"ball.position.w"', "No channel `ball.position.w`"),
    ('sigma = "10 um"', 'sigma = "10 s"', "sigma: `10 s` is in s; expected mm"),
    ('sigma = "10 um"', "sigma = -1", "must be positive"),
    ('sigma = "10 um"', "noise = 1", "unknown key"),
    ("[experiments.drop]", "[experiment.drop]", "experiment: unknown key. Did you mean `experiments`"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS, ids=[f[1] for f in FAULTS])
def test_faulty_studies_name_the_key(tmp_path, old, new, message):
    from identification.study import load_study

    for name in ("model.toml", "drop.csv"):
        (tmp_path / name).write_text((DROP / name).read_text())
    text = (DROP / "study.toml").read_text()
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new))
    with pytest.raises(ValueError) as caught:
        load_study(tmp_path / "study.toml")
    assert message in str(caught.value)


@pytest.mark.slow
def test_command_line_fit_survives_kill_9(tmp_path):
    study, out = DROP / "study.toml", tmp_path / "out"
    subprocess.run(command("fit", study, "--out", tmp_path / "whole", "--unchecked"), check=True, capture_output=True)
    first = subprocess.Popen(command("fit", study, "--out", out, "--unchecked"), stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not (out / "checkpoint.json").exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    again = subprocess.run(command("fit", study, "--out", out, "--json"), capture_output=True, text=True, check=True)
    whole = json.loads((tmp_path / "whole" / "fit.json").read_text())
    assert json.loads(again.stdout)["x"] == whole["x"] == json.loads((out / "fit.json").read_text())["x"]
    assert sorted(p.name for p in out.iterdir()) == ["fit.json", "fit.npz", "model.toml", "report.html"]
    page = (out / "report.html").read_text()
    assert "http" not in page and page.count("<img") == 4 and "identifiable" in page
    run = command("profile", study, "--out", out, "--parameter", "restitution", "--json")
    (found,) = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)["profiles"]
    # The noise is small: the profile is that of a straight model.
    np.testing.assert_allclose([found["low"], found["high"]], whole["interval"][1], rtol=1e-6)
    assert (out / "report.html").read_text().count("<img") == 5
    fitted = mb.load(out / "model.toml")
    np.testing.assert_allclose(fitted.value(STIFF), whole["x"][0], rtol=1e-15)
    assert jnp.abs(fitted.value(BOUNCE) - 0.8) < 1e-4


@pytest.mark.slow
def test_command_line_check_exits_with_4_where_the_data_cannot_tell(tmp_path):
    lines = (DROP / "drop.csv").read_text().splitlines()
    (tmp_path / "drop.csv").write_text("\n".join(lines[:100]))
    for name in ("model.toml", "study.toml"):
        (tmp_path / name).write_text((DROP / name).read_text())
    run = subprocess.run(command("check", tmp_path / "study.toml", "--json"), capture_output=True, text=True)
    assert run.returncode == 4, run.stderr
    verdicts = json.loads(run.stdout)["verdicts"]
    assert {v["verdict"] for v in verdicts.values()} == {"dead"} and set(verdicts) == {"stiffness", "restitution"}


def test_recordings_from_npz_and_mat(tmp_path):
    from scipy.io import savemat

    t, x = np.linspace(0, 1, 5), np.array([1.0, np.nan, 3.0, 4.0, 5.0])
    np.savez(tmp_path / "run.npz", t=t, x=x)
    savemat(tmp_path / "run.mat", {"t": t, "x": x, "note": "a rig"})
    for name in ("run.npz", "run.mat"):
        recording = ident.read_recording(tmp_path / name, "t")
        np.testing.assert_array_equal(recording.times, t)
        np.testing.assert_array_equal(recording.columns["x"], x)
        assert "1 of 5 samples are missing" in recording.remarks[0]
        with pytest.raises(ident.DataError, match=r"run.*no time column `time`. Columns: t, x"):
            ident.read_recording(tmp_path / name, "time")
    (tmp_path / "bad.npz").write_text("t,x\n0,1\n")
    (tmp_path / "bad.mat").write_text("t,x\n0,1\n")
    np.savez(tmp_path / "objects.npz", t=np.array([{}], dtype=object))
    np.savez(tmp_path / "none.npz", t=np.zeros((2, 2)))
    for name in ("bad.npz", "bad.mat", "objects.npz", "none.npz", "missing.npz"):
        with pytest.raises(ident.DataError, match=name):
            ident.read_recording(tmp_path / name, "t")
