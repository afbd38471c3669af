"""What predictions answer: values and slopes at one point, remembered as long as they may be asked for again."""

import threading

import jax
import jax.numpy as jnp
import numpy as np

import mbjax as mb

from .walk import LINEARISED, RESIDUALS

_ROOM = 32  # points whose values are remembered


class Answers:
    """Compiled values and slopes of a prediction at `u`, further arguments of which belong to a horizon.

    A walk asks for values at a point before it asks for the slope there, and all members of a group ask for the same:
    values of the last points are remembered, and (they are larger) each thread's last slope. Values are those of plain
    runs, also where a slope comes with values of its own: costs are compared, and must not differ by the tolerance.
    """

    def __init__(self, prediction, slope):
        self._one, self._batch = {}, {}
        for what, function in ((RESIDUALS, prediction), (LINEARISED, slope)):
            self._one[what] = mb.compiled(function)
            self._batch[what] = mb.compiled(_over_points(function))
        self._values, self._ahead, self._last = {}, {}, threading.local()
        self._lock = threading.Lock()

    def value(self, u, horizon, *args):
        key = _key(u, horizon)
        if (known := self._values.get(key)) is not None:
            return known
        found = np.asarray(self._one[RESIDUALS](jnp.asarray(u), *args))
        self._remember({key: found})
        return found

    def slope(self, u, horizon, *args):
        key = _key(u, horizon)
        if (known := self._ahead.get(key)) is not None:
            return known
        if vars(self._last).get("key") != key:
            self._last.found = np.asarray(self._one[LINEARISED](jnp.asarray(u), *args))
            self._last.key = key
        return self._last.found

    def look_ahead(self, what, us, horizon, *args):
        """Simulate points (points, parameters) in one batch, and remember the answers."""
        keys = [_key(u, horizon) for u in us]
        if what == RESIDUALS or any(key not in self._values for key in keys):
            found = np.asarray(self._batch[RESIDUALS](jnp.asarray(us), *args))
            self._remember(dict(zip(keys, found, strict=True)))
        if what == LINEARISED:
            found = np.asarray(self._batch[LINEARISED](jnp.asarray(us), *args))
            self._ahead.update(zip(keys, found, strict=True))

    def forget_slopes(self):
        """Of the last batch."""
        self._ahead.clear()

    def _remember(self, found):
        with self._lock:
            self._values |= found
            while len(self._values) > max(_ROOM, len(found)):
                del self._values[next(iter(self._values))]


def _over_points(function):
    return lambda us, *args: jax.vmap(lambda u: function(u, *args))(us)


def _key(u, horizon):
    return np.asarray(u).tobytes(), horizon
