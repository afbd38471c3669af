from collections.abc import Callable

import equinox as eqx
import numpy as np

from ..array import array_of
from .base import NO_KNOTS, AbstractSignal


class Custom(AbstractSignal):
    """A function of the user, `function(t, values)`, traceable by JAX; numbers in `values` can be fitted.

    It is not written to model files.
    """

    function: Callable = eqx.field(static=True)
    values: np.ndarray = eqx.field(converter=array_of(None), default_factory=lambda: np.zeros(0))

    def __call__(self, t):
        return self.function(t, self.values)

    def prepared(self):
        return self

    def knots(self):
        return NO_KNOTS
