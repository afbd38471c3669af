"""`python -m experiments`: every study can be listed, and a wrong name gets an answer."""

import importlib

from experiments.__main__ import STUDIES, main
from experiments.study import Study


def test_every_study_says_what_it_is_about_and_can_be_run(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(STUDIES)
    for name in STUDIES:
        module = importlib.import_module(f"experiments.{name}")
        assert callable(module.run) and len(module.__doc__.splitlines()[0]) > 30


def test_an_unknown_study_is_answered_with_those_that_exist(capsys, tmp_path):
    assert main(["run", "p9", "--out", str(tmp_path)]) == 2
    assert "There is no study `p9`. Known: p1_slider_crank" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_study_writes_what_it_found(tmp_path):
    study = Study(tmp_path / "s", True, "P0, figure 0: nothing.")
    study.figure("picture", {"a": ([0.0, 1.0], [1.0, 2.0])}, "t [s]", "x [m]")
    study.say("It moves.", "1 m", "reproduced")
    study.finish(1.5)
    names = {p.name for p in (tmp_path / "s").iterdir()}
    assert names == {"picture.png", "picture.numbers.csv", "summary.json", "README.md"}
    assert "- It moves. **reproduced**: 1 m" in (tmp_path / "s" / "README.md").read_text()
