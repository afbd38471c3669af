"""Sweeps over processes of `jax.distributed` and of Dask: the page about clusters does what it says."""

import pathlib
import re
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import identification as ident

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how_to" / "sweep_on_a_cluster.md"


def recipe(folder, change=("", "")):
    """The page's script, and the commands of two processes."""
    text = re.search(r"```python script\n(.*?)```", PAGE.read_text(), re.S)[1]
    assert change[0] in text
    (folder / "sweep.py").write_text(text.replace(*change))
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    return [[sys.executable, "sweep.py", f"localhost:{port}", "2", str(k)] for k in (0, 1)]


def start(commands, folder):
    return [
        subprocess.Popen(c, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for c in commands
    ]


@pytest.mark.slow
def test_two_processes_of_jax_distributed_give_the_numbers_of_one(tmp_path):
    processes = start(recipe(tmp_path), tmp_path)
    outputs = [p.communicate(timeout=240)[0] for p in processes]
    assert [p.returncode for p in processes] == [0, 0], outputs
    assert "160 variants" in outputs[0]
    two = ident.SweepResult.load(tmp_path / "out")
    import mbjax as mb
    from identification import measure

    ball = mb.library.bouncing_ball(height=0.02, interface=mb.Dry(mb.Impact(mb.Hertz(1e6), mb.Flores(0.8))))
    kept = [measure.Final("ball.position.z"), measure.ContactCount("wall", 50)]
    one = ident.sweep(ball, two.samples, kept, [0.0, 0.2], chunk=32)
    np.testing.assert_allclose(two.measures, one.measures, rtol=1e-9, atol=1e-12)


FAULTS = {
    "raises": "pass",
    "is killed": "import os, threading; threading.Timer(1.0, lambda: os.kill(os.getpid(), 9)).start()",
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_others_end_soon_after_one(fault, tmp_path):
    change = 'ident.sweep(ball, samples, kept, [0.0, 0.2], out="out", chunk=32, shard=ident.this_process())'
    faulty = f"""
def fault(run):
    if {fault == "raises"} and jax.process_index() == 1:
        raise ValueError("on purpose")
    return run["ball.position.z"][-1:]

kept[0] = measure.Custom(("final ball.position.z",), fault)
if jax.process_index() == 1:
    {FAULTS[fault]}
{change}
"""
    first, second = start(recipe(tmp_path, (change, faulty)), tmp_path)
    second.communicate(timeout=120)
    ended = time.monotonic()
    output = first.communicate(timeout=60)[0]
    assert time.monotonic() - ended < 15 and first.returncode != 0 and second.returncode != 0, output
    if fault == "raises":
        assert "on purpose" in output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own: sockets and processes that it leaves to the collector
def test_an_executor_of_dask():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (pip install distributed)")
    import mbjax as mb
    from identification import measure

    pendulum, samples = mb.library.pendulum(), {"bob.mass": np.linspace(1.0, 2.0, 12)}
    kept, ts = measure.Final("bob.position.x"), [0.0, 0.5]
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        far = ident.sweep(pendulum, samples, kept, ts, chunk=4, executor=client.get_executor())
    near = ident.sweep(pendulum, samples, kept, ts, chunk=4)
    np.testing.assert_allclose(far.measures, near.measures, rtol=1e-9)
