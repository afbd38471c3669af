import json
import pathlib
import signal
import subprocess
import sys
import time

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import mbjax as mb
from mbjax.cli.chunks import integrate
from mbjax.cli.console import Console, plain
from mbjax.cli.main import main
from mbjax.cli.results import write
from mbjax.cli.simulate import output_times
from mbjax.io.read import load_document
from mbjax.io.settings import Settings

ROOT = pathlib.Path(__file__).parents[1]
PENDULUM = ROOT / "examples" / "pendulum.toml"


@pytest.fixture(autouse=True)
def no_global_settings(monkeypatch):
    """Runs inside this process must not switch on a compilation cache for the tests that follow."""
    monkeypatch.setattr("mbjax.cli.simulate.prepare", lambda: None)


def command(*arguments):
    return [sys.executable, "-m", "mbjax", *map(str, arguments)]


def run(*arguments):
    return subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_simulate_writes_the_motion_and_one_json_object(tmp_path):
    done = run("simulate", PENDULUM, "--out", tmp_path / "new" / "out", "--end", "100 ms", "--samples", "11", "--json")
    assert done.returncode == 0, done.stderr
    about = json.loads(done.stdout)
    assert about["ok"] and about["outputs"] == 11 and about["reached"] == 0.1
    assert "initial residuals" in done.stderr and "Traceback" not in done.stderr
    folder = tmp_path / "new" / "out"
    assert sorted(p.name for p in folder.iterdir()) == [
        "summary.json", "trajectory.csv", "trajectory.json", "trajectory.npz",
    ]  # fmt: skip
    header, *rows = (folder / "trajectory.csv").read_text().splitlines()
    assert header.startswith("t [s],pin.spin [rad],pin.reaction.x [N]")
    assert len(rows) == 11
    assert json.loads((folder / "summary.json").read_text()) == about
    trajectory = mb.Trajectory.load(folder / "trajectory.npz")
    np.testing.assert_allclose(trajectory["pin.spin"][0], np.pi / 6, rtol=1e-12)


@pytest.mark.slow
def test_doctor_reports_versions_and_a_working_simulation():
    done = run("doctor", "--json")
    assert done.returncode == 0, done.stderr
    about = json.loads(done.stdout)
    assert about["ok"] and about["x64"]
    assert {"python", "mbjax", "jax", "jaxlib", "diffrax", "equinox"} <= set(about["versions"])
    assert about["simulation"]["message"] == "success"


def test_a_model_with_typos_exits_with_2_and_lists_them(tmp_path, capsys):
    (tmp_path / "m.toml").write_text(PENDULUM.read_text().replace("mass =", "mas =").replace("Revolute", "Revolut"))
    assert main(["simulate", str(tmp_path / "m.toml"), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert "bodies.bob.mas: unknown key. Did you mean `mass`?" in errors
    assert "connections.pin.realisation.kind" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"pin.spin", "pin.reaction.x"', '"pin.spn", "pin.reactn.x"'), ["outputs[0]", "Did you mean `pin.spin`?"]),
        (('end = "2 s"', ""), ["simulation.end", "--end"]),
    ],
)
def test_faults_of_the_simulation_settings_are_found_before_it_starts(tmp_path, capsys, change, words):
    (tmp_path / "m.toml").write_text(PENDULUM.read_text().replace(*change))
    assert main(["simulate", str(tmp_path / "m.toml"), "--out", str(tmp_path / "out"), "--json"]) == 2
    out = capsys.readouterr().out
    faults = json.loads(out)["faults"]
    for word in words:
        assert word in "\n".join(faults)


@pytest.mark.parametrize(
    "arguments",
    [["simulat"], ["simulate"], ["simulate", "m.toml", "--out", "o", "--end", "3 kg"], [], ["doctor", "--jason"]],
)
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_a_missing_file_is_named(capsys):
    assert main(["simulate", "none.toml", "--out", "unused"]) == 2
    assert "none.toml: the model file cannot be read" in capsys.readouterr().err


@pytest.mark.slow
def test_chunks_give_the_motion_of_one_piece():
    system = mb.assemble(mb.library.pendulum())
    state = mb.initial_state(system)
    ts = np.linspace(0.0, 1.0, 48)  # 47 intervals: the last chunk overlaps
    done = integrate(system, state, ts, solver=diffrax.Dopri8(), steps=mb.Adaptive(rtol=1e-9), console=Console(True))
    whole = mb.simulate(system, state, ts, steps=mb.Adaptive(rtol=1e-9))
    assert not done.interrupted and done.trajectory.result.success
    np.testing.assert_array_equal(done.trajectory.ts, ts)
    names = [c.name + ".spin" for c in system.mechanism.connections] + ["energy.total"]
    np.testing.assert_allclose(done.trajectory[names], whole[names], rtol=1e-7, atol=1e-9)


class Limit(mb.signal.base.AbstractSignal):
    """A torque that becomes NaN after 0.5 s: a simulation that fails on the way."""

    scale: np.ndarray = eqx.field(converter=np.asarray)

    def __call__(self, t):
        return self.scale * jnp.sqrt(0.5 - t)

    def prepared(self):
        return self

    def knots(self):
        return mb.signal.base.NO_KNOTS


def test_a_failed_simulation_keeps_what_was_reached_and_exits_with_3(tmp_path, capsys):
    document = load_document(PENDULUM)
    system = mb.assemble(document.mechanism.add(mb.JointForce("push", "pin", "spin", Limit(1.0))))
    ts, steps = np.linspace(0.0, 1.0, 21), mb.Adaptive(rtol=1e-6)
    console = Console(True)
    done = integrate(system, mb.initial_state(system), ts, solver=diffrax.Dopri8(), steps=steps, console=console)
    assert not done.trajectory.result.success
    assert 2 <= len(done.trajectory.ts) <= 11
    assert np.isfinite(np.asarray(done.trajectory["pin.spin"])).all()
    assert write(done, {}, tmp_path, ("pin.spin",), False, 0.0, console) == 3
    about = json.loads(capsys.readouterr().out)
    assert about["exit_code"] == 3 and "at t = 0." in about["message"]
    assert about["files"] == ["trajectory.csv", "summary.json"]


class Impatient(Console):
    """Presses Ctrl-C as soon as the first chunk is done."""

    def progress(self, text):
        if text.startswith("t = "):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_exits_with_130(tmp_path, capsys):
    system = mb.assemble(load_document(PENDULUM).mechanism)
    ts, console, before = np.linspace(0.0, 1.0, 21), Impatient(True), signal.getsignal(signal.SIGINT)
    steps = mb.Adaptive(rtol=1e-6)
    done = integrate(system, mb.initial_state(system), ts, solver=diffrax.Dopri8(), steps=steps, console=console)
    assert done.interrupted and len(done.trajectory.ts) == 2
    assert signal.getsignal(signal.SIGINT) is before
    assert write(done, {}, tmp_path, ("pin.spin",), False, 0.0, console) == 130
    about = json.loads(capsys.readouterr().out)
    assert about["message"] == "interrupted" and about["reached"] == ts[1]
    assert (tmp_path / "trajectory.csv").exists()


@pytest.mark.slow
def test_ctrl_c_of_a_running_command_keeps_whole_files(tmp_path):
    arguments = command("simulate", PENDULUM, "--out", tmp_path, "--end", "40000 s", "--samples", "41", "--json")
    process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("compiling"):
            break
    time.sleep(0.5)  # the signal's handler is set right after that line
    process.send_signal(signal.SIGINT)
    said, log = process.communicate(timeout=200)
    assert process.returncode == 130, log
    assert "Traceback" not in log and "press Ctrl-C again" in log
    about = json.loads(said)
    assert about["message"] == "interrupted" and 0 < about["reached"] < 40000
    assert json.loads((tmp_path / "summary.json").read_text()) == about
    assert mb.Trajectory.load(tmp_path / "trajectory.npz").ts[-1] == about["reached"]


def test_output_times_end_at_the_end():
    np.testing.assert_array_equal(output_times(Settings(end=1.0, output_step=0.25)), [0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_array_equal(output_times(Settings(end=1.0, output_step=0.4)), [0, 0.4, 0.8, 1.0])
    np.testing.assert_array_equal(output_times(Settings(end=0.3, output_step=0.1))[-1], 0.3)
    assert len(output_times(Settings(end=0.3, output_step=0.1))) == 4
    assert len(output_times(Settings(end=1.0, samples=5))) == 5
    np.testing.assert_array_equal(output_times(Settings(end=1.0, output_step=2.0)), [0.0, 1.0])


def test_json_has_no_nan():
    assert plain({"a": np.float64("nan"), "b": [np.inf, 1], "c": None}) == {"a": None, "b": [None, 1], "c": None}
