"""The Python of the documentation runs, page by page in one namespace, and its links lead somewhere."""

import pathlib
import re

import matplotlib
import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGES = {p.relative_to(ROOT).as_posix(): p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SLOW = {
    "docs/imperfect_joints.md",
    "docs/getting_started.md",
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


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name):
    links = [link for link in LINK.findall(PAGES[name].read_text(encoding="utf-8")) if ":" not in link]
    missing = [link for link in links if not (PAGES[name].parent / link).exists()]
    assert not missing
