"""x64, the quicker of XLA's two code generators, and an own random seed for every test that asks for one."""

import importlib.metadata
import os

import jax
import numpy as np
import pytest

# What `mbjax.compiled` asks for; here also for the tests' own jit. An unknown flag would end the process.
if importlib.metadata.version("jaxlib").startswith("0.10."):
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_use_fusion_emitters=false"
jax.config.update("jax_enable_x64", True)


@pytest.fixture(autouse=True)
def room():
    """Tests compile hundreds of programs in one process."""
    yield
    from mbjax.compilation import make_room

    make_room()


@pytest.fixture
def random():
    return np.random.default_rng(20261118)
