"""`mbjax sweep` and `mbjax sensitivity` from study files."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import identification as ident
import mbjax as mb
from identification.study import load_sensitivity, load_sweep
from identification.sweep import plot

DROP = pathlib.Path(__file__).parents[1] / "examples" / "drop"


def mbjax(*arguments):
    return subprocess.run([sys.executable, "-m", "mbjax", *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.slow
def test_shards_status_merge_and_plot(tmp_path):
    out = tmp_path / "out"
    for shard in ("1/2", "2/2"):
        run = mbjax("sweep", "run", DROP / "variants.toml", "--out", out, "--shard", shard, "--json")
        assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["done"] == [0, 1]
    assert json.loads(mbjax("sweep", "status", out, "--json").stdout)["variants"] == 27
    merged = json.loads(mbjax("sweep", "merge", out, "--json").stdout)
    assert merged["labels"] == ["wall touches", "wall largest force"] and merged["failed"] == 0
    picture = mbjax("sweep", "plot", out, "--measure", "wall touches", "--out", tmp_path / "p.png")
    assert picture.returncode == 0 and (tmp_path / "p.png").stat().st_size > 3000
    missing = mbjax("sweep", "merge", tmp_path / "nothing")
    assert missing.returncode == 2 and "no sweep can be read here" in missing.stderr
    alone = mbjax("sweep", "run", DROP / "variants.toml")
    assert alone.returncode == 2 and "needs `--out DIR`" in alone.stderr


@pytest.mark.slow
def test_sensitivity_writes_numbers_and_pictures(tmp_path):
    run = mbjax("sensitivity", DROP / "variants.toml", "--out", tmp_path, "--json")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["ranking"][0]["parameter"].endswith("restitution")
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {"sensitivity.json", "sensitivity.npz", "sensitivity.png", "tornado.png"}


FAULTS = {
    "outputs = 61": ("outputs = 1", ["times.outputs"]),
    'end = "0.3 s"': ('end = "0.3 kg"', ["times.end"]),
    "chunk = 20": ("chunks = 20", ["sweep.chunks", "Did you mean `chunk`"]),
    '"LargestForce"': ('"LargetForce"', ["measures[1].kind", "Did you mean `LargestForce`"]),
    'kind = "ContactCount", connection = "wall"': ('kind = "ContactCount"', ["measures[0]", "connection"]),
    "count = 9": ("counts = 9", ["counts", "Did you mean `count`"]),
    'hysteresis.restitution"]\nfrom': ('hysteresis.restitutio"]\nfrom', ["Did you mean `restitution`"]),
    "from = 0.5": ("", ["needs `from` and `to`"]),
    '"60 mm"': ('"60 kg"', ["ball.position.z", "kg"]),
    'model = "model.toml"': ('model = "modl.toml"', ["modl.toml"]),
}


@pytest.mark.parametrize("good", FAULTS)
def test_faults_of_a_sweep_name_their_key(good, tmp_path):
    bad, words = FAULTS[good]
    text = (DROP / "variants.toml").read_text()
    assert text.count(good) >= 1
    (tmp_path / "model.toml").write_text((DROP / "model.toml").read_text())
    (tmp_path / "study.toml").write_text(text.replace(good, bad, 1))
    with pytest.raises(mb.ModelError) as error:
        load_sweep(tmp_path / "study.toml")
    for word in words:
        assert word in str(error.value)


def test_faults_of_a_sensitivity_study_name_their_key(tmp_path):
    text = (
        (DROP / "variants.toml").read_text().replace('"ball.mass"', '"ball.mas"').replace("outputs = [", "output = [")
    )
    (tmp_path / "model.toml").write_text((DROP / "model.toml").read_text())
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(mb.ModelError) as error:
        load_sensitivity(tmp_path / "study.toml")
    assert "`ball.mas`" in str(error.value) and "sensitivity.output" in str(error.value)
    (tmp_path / "empty.toml").write_text('model = "model.toml"\n')
    with pytest.raises(mb.ModelError, match=r"times.*is missing"):
        load_sweep(tmp_path / "empty.toml")


def test_pictures_of_sections_and_maps(tmp_path):
    samples = ident.grid({"a.b": [1.0, 2.0, 3.0], "c.d": [0.0, 1.0]})
    labels = ("x at section 1", "x at section 2", "y at section 1", "y at section 2")
    numbers = np.arange(24.0).reshape(6, 4)
    zero = np.zeros(6)
    result = ident.SweepResult(samples, labels, numbers, zero, np.array([""] * 6), zero, zero)
    plot.bifurcation(result, "a.b", "x", tmp_path / "1.png")
    plot.poincare_map(result, 2, ["x", "y"], tmp_path / "2.png")
    plot.parameter_map(result, labels[0], "c.d", "a.b", tmp_path / "3.png")
    plot.scatter(result, labels[:2], "a.b", tmp_path / "4.png")
    bars = {k: np.array([0.7, 0.3]) for k in ("S1", "ST", "S1_conf", "ST_conf")}
    plot.sobol_bars(bars, ["a.b", "c.d"], tmp_path / "5.png")
    assert all((tmp_path / f"{k}.png").stat().st_size > 3000 for k in range(1, 6))
    with pytest.raises(ident.StudyError, match=r"`e\.f` was not varied"):
        plot.scatter(result, labels[:1], "e.f", tmp_path / "6.png")
