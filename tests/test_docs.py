"""The Python of the documentation runs, page by page in one namespace, and its links lead somewhere."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import matplotlib
import pytest

from mbjax.io.read import loads

ROOT = pathlib.Path(__file__).parent.parent
PAGES = {p.relative_to(ROOT).as_posix(): p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
STEP = re.compile(r"^```(\w+) page ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SLOW = {
    "README.md",
    "docs/imperfect_joints.md",
    "docs/python_tour.md",
    "docs/models.md",
    "docs/fitting.md",
    "docs/sweeps.md",
    "docs/choosing_a_solver.md",
}  # more than 20 s


def blocks(page):
    """Python blocks of a page, moved down to their line numbers so that a traceback points into the page."""
    text = page.read_text(encoding="utf-8")
    return ["\n" * text.count("\n", 0, m.start(1)) + m.group(1) for m in BLOCK.finditer(text)]


WITH_CODE = [
    pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name, page in PAGES.items() if blocks(page)
]


@pytest.mark.parametrize("name", WITH_CODE)
def test_python_of_a_page_runs(name, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code in blocks(PAGES[name]):
        exec(compile(code, str(PAGES[name]), "exec"), namespace)


LINES = re.findall(r"^```toml\n(.*)\n```$", PAGES["docs/imperfect_joints.md"].read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(re.findall(r'kind = "(\w+)"', line)[:3]))
def test_a_line_for_a_connection_is_one_that_model_files_know(line):
    """In place of the pendulum's own; written out it reads the same again."""
    model = (ROOT / "examples/pendulum.toml").read_text(encoding="utf-8")
    own = 'realisation = "Revolute"'
    assert own in model
    mechanism = loads(model.replace(own, line if line.startswith("realisation") else f"{own}\n{line}"))
    assert loads(mechanism.to_toml()).to_toml() == mechanism.to_toml()


@pytest.mark.slow
def test_getting_started_gets_from_nothing_to_a_report(tmp_path):
    """All blocks of the page in their order, in a copy of the project with an environment of its own."""
    checkout = tmp_path / "mbjax"
    hidden = shutil.ignore_patterns(".*", "out", "__pycache__")
    shutil.copytree(ROOT, checkout, ignore=hidden)
    steps = STEP.findall(PAGES["docs/getting_started.md"].read_text(encoding="utf-8"))
    assert [kind for kind, *_ in steps].count("toml") == 2
    said = ""
    for kind, name, body in steps:
        if kind == "toml":
            (checkout / name).write_text(body)
            continue
        command = [".venv/bin/python", "-c", body] if kind == "python" else ["bash", "-euo", "pipefail", "-c", body]
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
        assert done.returncode == 0, f"{body}\n{done.stdout}\n{done.stderr}"
        said += done.stdout
    assert "dry      identifiable" in said
    fit = json.loads((checkout / "out" / "fit.json").read_text())
    found = dict(zip(fit["names"], fit["x"], strict=True))
    assert abs(found["dry"] / 0.04 - 1) < 0.02 and abs(found["viscous"] / 0.003 - 1) < 0.02
    assert (checkout / "out" / "report.html").exists() and (checkout / "motion" / "plot.png").exists()


def test_the_site_builds_without_warnings_and_asks_nothing_of_the_network(tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING -" not in done.stderr, done.stderr
    missing = []
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//""", text), page
        assert not re.search(r"""<link[^>]+rel=["']?(?:stylesheet|preconnect)[^>]+href=["']?(?:https?:)?//""", text), (
            page
        )
        links = re.findall(r'href="([^"#:]+)(?:#[^"]*)?"', text) if page.name != "404.html" else []
        missing += [(page.name, link) for link in links if not (page.parent / link).exists()]
    assert not missing
    reference = (tmp_path / "api" / "mbjax.html").read_text(encoding="utf-8")
    assert "trust_horizon" in reference and "slider_crank_3d" in reference


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name):
    links = [link for link in LINK.findall(PAGES[name].read_text(encoding="utf-8")) if ":" not in link]
    missing = [link for link in links if not (PAGES[name].parent / link).exists()]
    assert not missing
