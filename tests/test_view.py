"""The HTML view: its numbers are those of the channels, it asks for nothing from outside, and it draws in a browser."""

import json
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from browser import Browser, find_chromium

import mbjax as mb
from mbjax.cli.main import main
from mbjax.stepping.progress import NOT_FINITE
from mbjax.trajectory import Result, Statistics, Trajectory
from mbjax.view import make_scene
from mbjax.view.joints import PAIRS, drawn_as
from mbjax.view.solids import body_shapes, equivalent_box


def trajectory_of(mechanism, states, ts):
    """A trajectory of states that were made by hand."""
    ts, zero = jnp.asarray(ts), jnp.zeros((), dtype=int)
    return Trajectory(mb.assemble(mechanism), ts, states, Result(zero, ts[-1]), Statistics(zero, zero, zero))


@pytest.fixture(scope="module")
def crank():
    """Slider-crank with clearance in B at seven times; the slider is pushed about within and beyond the clearance."""
    mechanism = mb.library.planar_slider_crank_clearance()
    state = mb.initial_state(mb.assemble(mechanism))
    push = np.zeros((7, 3, 3))
    push[:, 2, 0] = np.linspace(-6e-4, 6e-4, 7)
    states = jax.tree.map(lambda x: jnp.broadcast_to(x, (7, *x.shape)), state)
    states = eqx.tree_at(lambda s: s.q.planar, states, states.q.planar + push)
    return trajectory_of(mechanism, states, np.linspace(0.0, 6e-4, 7))


@pytest.fixture(scope="module")
def failed(crank):
    """The same, but only the first four times were reached."""
    lost = np.arange(7) > 3
    states = jax.tree.map(
        lambda x: jnp.where(lost.reshape(7, *[1] * (x.ndim - 1)), jnp.nan, x) if x.dtype == float else x, crank.states
    )
    result = Result(jnp.asarray(NOT_FINITE), crank.ts[3])
    return eqx.tree_at(lambda t: (t.states, t.result), crank, (states, result))


def numbers(rows):
    return np.array(rows, dtype=float)  # None becomes NaN


def test_scene_agrees_with_the_channels(crank):
    scene = make_scene(crank, ["slider.position.x", "energy.kinetic"])
    np.testing.assert_allclose(scene["times"], crank.ts, rtol=1e-11)
    for body in scene["bodies"]:
        seen = crank[[f"{body['name']}.position.{c}" for c in "xyz"]]
        np.testing.assert_allclose(numbers(body["position"]), seen, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(body["turn"], axis=1), 1.0, rtol=1e-6)
    for joint in scene["joints"]:
        seen = crank[[f"{joint['name']}.reaction.{c}" for c in "xyz"]]
        np.testing.assert_allclose(numbers(joint["force"]), seen, rtol=1e-6, atol=1e-9)
    assert scene["shown"] == ["slider.position.x", "energy.kinetic"]
    for channel in scene["channels"]:
        np.testing.assert_allclose(numbers(channel["values"]), crank[channel["name"]], rtol=1e-6)
        assert channel["unit"] == crank.channels[channel["name"]]


def test_clearance_joint_carries_its_play(crank):
    joint = next(j for j in make_scene(crank)["joints"] if j["name"] == "B")
    assert joint["kind"] == "ring" and joint["magnified"] == [True, False, False]
    assert joint["sizes"] == {"radius": 0.01, "clearance": 0.5e-3}
    np.testing.assert_allclose(numbers(joint["displacement"])[:, 0], np.linspace(-6e-4, 6e-4, 7), atol=1e-10)
    np.testing.assert_allclose(joint["depth"], crank["B.penetration"], rtol=1e-5, atol=1e-10)
    np.testing.assert_allclose(crank["B.distance"], crank["B.penetration"] + 0.5e-3, atol=1e-12)


def test_scene_is_plain_json_with_a_bounded_number_of_times(crank):
    scene = make_scene(crank, frames=3)
    assert json.loads(json.dumps(scene, allow_nan=False)) == scene
    assert scene["times"] == [0.0, 3e-4, 6e-4]
    assert {len(b["position"]) for b in scene["bodies"]} == {len(c["values"]) for c in scene["channels"]} == {3}


def test_what_a_failed_run_did_not_reach_is_left_out(crank, failed):
    scene = make_scene(failed)
    assert not scene["success"] and "at t = 0.0003" in scene["message"]
    np.testing.assert_allclose(scene["times"], crank.ts[:4])
    assert np.isfinite(numbers(scene["bodies"][0]["position"])).all()
    nothing = eqx.tree_at(lambda t: t.states.q.planar, failed, failed.states.q.planar * jnp.nan)
    with pytest.raises(ValueError, match="no state to show"):
        make_scene(nothing)


def test_undetermined_reactions_are_none():
    mechanism = mb.library.bricard()
    with pytest.warns(mb.ModelWarning):
        system = mb.assemble(mechanism)
        state = mb.initial_state(system)
        trajectory = trajectory_of(mechanism, jax.tree.map(lambda x: jnp.asarray(x)[None], state), [0.0])
        scene = make_scene(trajectory)
    assert scene["joints"][0]["force"] == [[None] * 3]
    assert len(scene["bodies"]) == 5 and scene["normal"] is None and scene["up"] == [0.0, 1.0, 0.0]


def test_unknown_channel_names_the_nearest(crank, tmp_path):
    with pytest.raises(KeyError, match=r"No channel `slider\.position\.u`\. Did you mean `slider\.position\.[xyz]`"):
        crank.view(tmp_path / "out.html", ["slider.position.u"])
    assert not list(tmp_path.iterdir())


def test_page_is_one_file_that_asks_for_nothing(crank, tmp_path):
    page = crank.view(tmp_path / "new" / "out.html", ["slider.position.x"])
    text = (tmp_path / "new" / "out.html").read_text(encoding="utf-8")
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["out.html"]
    assert page.path == tmp_path / "new" / "out.html" and page.html == text
    assert not re.findall(r"https?://", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    assert set(re.findall(r"""\b(?:src|href)\s*=\s*["']([^"']*)["']""", text)) == {"data:,"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|@import|\bimport\(", text)
    assert "default-src 'none'" in text and "@@" not in text
    assert "three.js authors" in text and "this permission notice shall be included in" in text
    assert len(text) < 1e6


def test_notebook_gets_the_whole_page_in_a_frame(crank):
    page = crank.view()
    assert page.path is None
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and "<script" not in frame
    assert "not written to a file" in repr(page)


def test_names_cannot_break_out_of_the_page(crank):
    from mbjax.view import make_page

    scene = make_scene(crank) | {"name": "</script><b>@@THREE@@"}
    text = make_page(scene).html
    assert "</script><b>" not in text
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert json.loads(found[1]) == scene


def test_all_pairs_and_joints_have_a_drawing():
    kinds = {drawn_as(j())[0] for j in (mb.Revolute, mb.Spherical, mb.Translation, mb.Cylindrical, mb.Rigid, mb.Free)}
    assert kinds == {"hinge", "ball", "slide", "cylinder", "weld", "free"}
    assert set(PAIRS) == set(mb.contact.pair.CATALOGUE)
    assert drawn_as(mb.Bushing(np.ones(6))) == ("bushing", {}, [True] * 3)


def test_bodies_look_like_their_frame_points():
    box = equivalent_box(2.0, np.diag(2.0 / 12 * np.array([0.1**2 + 0.2**2, 0.3**2 + 0.2**2, 0.3**2 + 0.1**2])))
    np.testing.assert_allclose(np.sort(box[0]), [0.1, 0.2, 0.3])
    ends = [np.array([-0.5, 0, 0]), np.array([0.5, 0, 0])]
    (link,) = body_shapes(ends, [], box, 1.0, 0.02)
    assert link == {"kind": "capsule", "from": [-0.5, 0, 0], "to": [0.5, 0, 0], "radius": 0.02}
    bob = body_shapes(ends[:1], [], box, 1.0, 0.02)
    assert [s["kind"] for s in bob] == ["capsule", "box"]
    block = body_shapes([np.zeros(3)], [(np.zeros(3), np.eye(3), [0.1, 0.1, 0.15])], box, 1.0, 0.02)
    assert [s["kind"] for s in block] == ["box"] and block[0]["size"] == [0.1, 0.1, 0.15]
    assert [s["kind"] for s in body_shapes([], [], equivalent_box(1.0, 0.4 * np.eye(3)), 1.0, 0.02)] == ["sphere"]
    (disc,) = body_shapes([], [], equivalent_box(1.0, np.float64(0.02)), 1.0, 0.02)
    np.testing.assert_allclose([disc["kind"] == "disc", disc["radius"]], [1, 0.2])  # m r^2 / 2


def test_command_writes_the_page_of_a_result(crank, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("mbjax.cli.view.prepare", lambda: None)
    crank.save(tmp_path / "trajectory")
    out = tmp_path / "page.html"
    assert main(["view", str(tmp_path), "--out", str(out), "--channel", "slider.position.x", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] and told["page"] == str(out) and told["bytes"] == out.stat().st_size
    assert main(["view", str(tmp_path / "trajectory.npz"), "--out", str(out)]) == 0
    assert main(["view", str(tmp_path), "--out", str(out), "--channel", "slidr.position.x"]) == 2
    assert "Did you mean `slider.position.x`?" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "nowhere"), "--out", str(out)]) == 2
    assert "mbjax simulate" in capsys.readouterr().err


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program, reason = find_chromium(tmp_path_factory.mktemp("chromium"))
    if program is None:
        print(reason)
        pytest.skip(reason)
    tab = Browser(program)
    yield tab
    tab.close()


def four_bar():
    system = mb.assemble(mb.library.four_bar_clearance())
    return mb.simulate(system, mb.initial_state(system), jnp.linspace(0.0, 0.05, 51))


def pixels_that_differ(a, b):
    import io

    import matplotlib.image

    # The scene alone: plots and sliders lie to the right and below.
    a, b = (matplotlib.image.imread(io.BytesIO(x))[:550, :890] for x in (a, b))
    return int(np.any(a != b, axis=-1).sum())


@pytest.mark.browser
@pytest.mark.parametrize("case", ["slider-crank", "failed slider-crank", "four-bar"])
def test_page_draws_and_its_sliders_change_the_picture(case, browser, request, tmp_path):
    if case == "four-bar":
        trajectory = four_bar()
    else:
        trajectory = request.getfixturevalue("failed" if case.startswith("failed") else "crank")
    page = trajectory.view(tmp_path / "out.html")
    browser.errors.clear()
    browser.requests.clear()
    seconds = browser.open(page.path.as_uri())
    print(f"{case}: {len(page.html) / 1e6:.2f} MB, drawn after {seconds:.2f} s")
    start = browser.picture()
    browser.slide("time", float(make_scene(trajectory)["times"][-1]))
    later = browser.picture()
    browser.slide("exaggeration", 1)
    magnified = browser.picture()
    browser.slide("force", 1)
    browser.run("document.getElementById('theme').click()")
    assert pixels_that_differ(start, later) > 500
    assert pixels_that_differ(later, magnified) > 500
    assert browser.errors == []
    assert browser.requests == [page.path.as_uri()]
    assert ("stopped" in browser.run("document.getElementById('message').textContent")) == case.startswith("failed")


@pytest.mark.browser
def test_playing_moves_time_and_channels_can_be_chosen(browser, crank, tmp_path):
    page = crank.view(tmp_path / "out.html", ["slider.position.x"])
    browser.errors.clear()
    browser.open(page.path.as_uri())
    plots = "[...document.querySelectorAll('.plot')].map((p) => p.dataset.channel)"
    assert browser.run(plots) == ["slider.position.x"]
    browser.run("document.getElementById('choose').open = true")
    browser.run("document.querySelectorAll('#list input')[4].click()")
    assert len(browser.run(plots)) == 2
    browser.run("document.getElementById('play').click()")
    browser.run("new Promise((done) => setTimeout(done, 500))")
    assert browser.run("Number(document.getElementById('time').value)") > 0
    assert browser.errors == []


@pytest.mark.browser
def test_page_works_inside_a_notebook_frame(browser, crank, tmp_path):
    page = f"<!doctype html><body>{crank.view()._repr_html_()}</body>"
    (tmp_path / "notebook.html").write_text(page, encoding="utf-8")
    browser.errors.clear()
    browser.requests.clear()
    inside = "document.querySelector('iframe')?.contentDocument?.documentElement?.dataset.ready === 'yes'"
    browser.open((tmp_path / "notebook.html").as_uri(), wait=inside)
    assert browser.errors == []
    assert [r for r in browser.requests if not r.startswith(("file:", "about:", "data:"))] == []
