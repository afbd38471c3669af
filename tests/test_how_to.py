"""The how-to pages do what they say: their files are written into a catalogue, used and tested."""

import pathlib
import re

import jax.numpy as jnp
import numpy as np

import mbjax as mb
from mbjax.contact import friction
from mbjax.io.read import loads

PAGE = pathlib.Path(__file__).parent.parent / "docs/how_to/add_a_friction_law.md"


def test_a_friction_law_is_one_file_one_line_and_one_test(monkeypatch):
    files = dict(re.findall(r"^```python file=(\S+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    assert set(files) == {"quadratic.py", "test_quadratic.py"}
    namespace = {"__name__": "quadratic"}
    for text in files.values():
        exec(compile(text, str(PAGE), "exec"), namespace)
    namespace["test_quadratic_friction_by_hand"]()
    law = namespace["Quadratic"]
    monkeypatch.setattr(friction, "CATALOGUE", (*friction.CATALOGUE, law))
    mechanism = mb.library.bouncing_ball(
        interface=mb.Dry(mb.Impact(mb.Hertz(1e7), mb.Flores(0.5)), law(0.3, 0.7)), height=0.001
    )
    read = loads(mechanism.to_toml())
    assert float(read.value("wall.interface.friction.coefficient")) == 0.3
    system = mb.assemble(read)
    run = mb.simulate(system, mb.initial_state(system), jnp.linspace(0, 0.05, 3), steps=mb.Adaptive(rtol=1e-8))
    assert np.ptp(np.asarray(run["energy.balance"])) < 1e-8
