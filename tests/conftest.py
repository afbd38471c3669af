"""x64, strict promotion, and an own random seed for every test that asks for one."""

import jax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)


@pytest.fixture
def random():
    return np.random.default_rng(20261118)
