"""Sweeps: rows are right, failures stay alone, files survive kills, shards and damage."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import jax.numpy as jnp
import numpy as np
import pytest

import identification as ident
import mbjax as mb
from identification import measure
from mbjax.files import Atomic

BOUNCE = "wall.interface.normal.hysteresis.restitution"
KEPT = (measure.Final("ball.position.z"), measure.ContactCount("wall", 50))
TS = [0.0, 0.2]
E = np.linspace(0.3, 0.9, 21)


def ball():
    law = mb.Dry(mb.Impact(mb.Hertz(1e6), mb.Flores(0.8)))
    return mb.library.bouncing_ball(height=0.02, interface=law)


def files(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "whole"
    return folder, ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, out=folder, chunk=4)


def test_rows_are_those_of_single_runs(whole):
    _, result = whole
    system = mb.assemble(ball())
    for k in (0, 7, 20):
        run = mb.simulate(system.bind({BOUNCE: E[k]}), mb.initial_state(system), jnp.asarray(TS), events=50)
        np.testing.assert_allclose(result["final ball.position.z"][k], run["ball.position.z"][-1], rtol=1e-10)
        assert result["wall touches"][k] == len(run.events.rows("touch"))
    assert result.failed.size == 0 and len(result) == 21
    with pytest.raises(KeyError, match="no measure `final`"):
        result["final"]


def test_a_sweep_in_memory_is_the_same(whole):
    again = ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, chunk=4)
    np.testing.assert_array_equal(again.measures, whole[1].measures)


def test_shards_merge_to_the_same_bits(whole, tmp_path):
    for i in (3, 1, 2):
        assert ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, out=tmp_path / "s", chunk=4, shard=(i, 3)) is None
        if i == 1:
            found = ident.status(tmp_path / "s")
            assert (found.chunks, len(found.done), found.damaged) == (6, 4, ())
            with pytest.raises(ident.StudyError, match=r"chunks \[1, 4\] of 6 are missing"):
                ident.merge(tmp_path / "s")
    ident.merge(tmp_path / "s")
    assert files(tmp_path / "s") == files(whole[0])
    with pytest.raises(ident.StudyError, match="shard 4/3 does not exist"):
        ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, out=tmp_path / "s", shard=(4, 3))


def test_a_damaged_chunk_is_computed_again_and_other_sweeps_are_refused(whole, tmp_path):
    folder, lines = tmp_path / "d", []
    ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, out=folder, chunk=4)
    chunk = folder / "chunk-00002.npz"
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 0xFF
    chunk.write_bytes(bytes(data))
    (folder / "chunk-00004.npz").write_bytes(b"half a fi")
    assert ident.status(folder).damaged == (2, 4)
    ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, out=folder, chunk=4, note=lines.append)
    assert files(folder) == files(whole[0]) and sum("damaged" in line for line in lines) == 2
    assert any("about" in line and "left" in line for line in lines)
    for change in ({"ts": [0.0, 0.1]}, {"measure": KEPT[:1]}, {"samples": {BOUNCE: E[:9]}}, {"chunk": 5}):
        given = {"samples": {BOUNCE: E}, "measure": KEPT, "ts": TS, "chunk": 4} | change
        with pytest.raises(ident.StudyError, match="belongs to another sweep"):
            ident.sweep(ball(), out=folder, **given)


def test_variants_that_fail_are_named_and_change_no_other_row(whole):
    table = np.stack([E, np.ones(21)], axis=-1)
    table[5, 1], table[11, 1] = -1.0, 0.0
    found = ident.sweep(ball(), ident.Samples((BOUNCE, "ball.mass"), table), KEPT, TS, chunk=4)
    assert found.failed.tolist() == [5, 11] and "needs a positive mass" in found.reason[5]
    good = found.code == 0
    np.testing.assert_array_equal(found.measures[good], whole[1].measures[good])
    assert np.isnan(found.measures[~good]).all() and "variant 5" in str(found)
    short = ident.sweep(ball(), {BOUNCE: E[-3:]}, KEPT, TS, max_steps=30)
    assert short.failed.size and "largest number of steps" in short.reason[short.failed[0]]


@pytest.mark.slow
def test_failures_in_a_pack_are_named_and_change_no_other_row(tmp_path):
    count = 224
    table = np.stack([np.linspace(0.3, 0.9, count), np.ones(count)], axis=-1)
    paths = (BOUNCE, "ball.mass")
    clean = ident.sweep(ball(), ident.Samples(paths, table), KEPT, TS)
    assert clean.failed.size == 0
    for k in (3, 40, 200):
        alone = ident.sweep(ball(), ident.Samples(paths, table[k : k + 1]), KEPT, TS)
        np.testing.assert_allclose(clean.measures[k], alone.measures[0], rtol=1e-5)
    few = int(np.quantile(clean.steps, 0.98))
    table[[7, 150], 1] = -1.0
    found = ident.sweep(ball(), ident.Samples(paths, table), KEPT, TS, max_steps=few, out=tmp_path / "s")
    long = np.flatnonzero(clean.steps > few)
    assert found.failed.tolist() == sorted({7, 150, *long}) and long.size
    assert "largest number of steps" in found.reason[long[0]] and "positive mass" in found.reason[150]
    good = found.code == 0
    np.testing.assert_array_equal(found.measures[good], clean.measures[good])
    again = ident.SweepResult.load(tmp_path / "s")
    assert again.reason.tolist() == found.reason.tolist() and np.isnan(again.measures[~good]).all()


def test_faults_are_told_before_anything_runs(tmp_path):
    for given, message in (
        (({BOUNCE + "x": E}, KEPT), "restitution"),
        (({BOUNCE: E}, measure.Final("ball.position.w")), "ball.position.w"),
        (({BOUNCE: E}, [lambda run: 1.0]), "is not a measure"),
        (({BOUNCE: [0.5, np.nan]}, KEPT), "variant 1"),
        (({"ball.inertia": E}, KEPT), "array of shape"),
        (({BOUNCE: E, "ball.mass": [1.0]}, KEPT), "different length"),
    ):
        with pytest.raises((ident.StudyError, ValueError), match=message):
            ident.sweep(ball(), *given, TS)
    with pytest.raises(ident.StudyError, match="nothing can touch"):
        ident.sweep(mb.library.pendulum(), {"bob.mass": [1.0]}, measure.ContactCount("pin"), TS)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ident.StudyError, match="cannot be written"):
        ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, out=tmp_path / "file" / "x")


def test_channels_are_kept_when_asked_for_and_axes_are_labelled():
    result = ident.sweep(
        ball(), ident.grid({BOUNCE: [0.5, 0.8], "ball.mass": [1.0, 2.0, 3.0]}), KEPT, [0.0, 0.01, 0.02],
        channels=["ball.position.z"],
    )  # fmt: skip
    assert result.motions.shape == (6, 3, 1) and result.on_grid("wall touches").shape == (2, 3)
    np.testing.assert_allclose(result.motions[:, 1, 0], 0.07 - 0.5 * 9.81 * 1e-4, rtol=1e-9)
    table = result.to_xarray()
    assert table["ball.position.z"].dims == (BOUNCE, "ball.mass", "time")
    drawn = ident.uniform({"ball.mass": (1.0, 10.0)}, 500, seed=1, log=["ball.mass"]).values
    assert 1 < drawn.min() < 1.1 and 9 < drawn.max() < 10 and abs(np.log(drawn).mean() - np.log(10) / 2) < 0.1


SCRIPT = """
import sys
import jax
jax.config.update("jax_num_cpu_devices", {devices})
jax.config.update("jax_enable_x64", True)
sys.path.insert(0, {tests!r})
import identification as ident
from test_sweep import BOUNCE, KEPT, TS, ball
import numpy as np
ident.sweep(ball(), {{BOUNCE: np.linspace(0.3, 0.9, {count})}}, KEPT, TS, out={out!r}, chunk={chunk})
"""


def script(out, count, devices=1, chunk=4):
    text = SCRIPT.format(out=str(out), count=count, devices=devices, chunk=chunk, tests=os.path.dirname(__file__))
    return [sys.executable, "-c", textwrap.dedent(text)]


SIZES = [pytest.param(150, 1, marks=pytest.mark.slow), pytest.param(10_000, 64, marks=pytest.mark.long)]


@pytest.mark.parametrize(("count", "chunk"), SIZES)
def test_a_sweep_killed_three_times_ends_with_the_same_bits(count, chunk, tmp_path):
    subprocess.run(script(tmp_path / "whole", count, chunk=chunk), check=True)
    folder = tmp_path / "killed"
    for wanted in (3, 40, 100):
        process = subprocess.Popen(script(folder, count, chunk=chunk))
        until = time.monotonic() + 120
        while time.monotonic() < until and len(list(folder.glob("chunk-*"))) < wanted:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = {p.name: p.stat().st_mtime_ns for p in folder.glob("chunk-*")}
    assert 100 <= len(before) < -(-count // chunk)
    subprocess.run(script(folder, count, chunk=chunk), check=True)
    assert all((folder / name).stat().st_mtime_ns == t for name, t in before.items())
    assert files(folder) == files(tmp_path / "whole")


@pytest.mark.slow
def test_two_devices_and_two_processes_give_the_same_numbers(whole, tmp_path):
    subprocess.run(script(tmp_path / "two", 21, devices=2), check=True)
    assert json.loads((tmp_path / "two" / "sweep.json").read_text())["variants"] == 21
    two = ident.SweepResult.load(tmp_path / "two")
    np.testing.assert_allclose(two.measures, whole[1].measures, rtol=1e-9)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        far = ident.sweep(ball(), {BOUNCE: E}, KEPT, TS, chunk=4, executor=pool)
    np.testing.assert_allclose(far.measures, whole[1].measures, rtol=1e-9)


def test_a_full_disk_is_named_with_the_file_and_leaves_nothing_half_written(tmp_path):
    class Full:
        def __getattr__(self, name):
            return getattr(self.file, name)

        def flush(self):
            raise OSError(28, "No space left on device")

    writer = Atomic(tmp_path / "a.npz", "wb")
    with pytest.raises(OSError, match="No space left") as error, writer as file:
        file.write(b"x")
        writer.file = Full()
        writer.file.file = file
    assert error.value.filename == str(tmp_path / "a.npz") and not list(tmp_path.iterdir())
