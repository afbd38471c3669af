import dataclasses
import hashlib

import numpy as np

from ..errors import StudyError


@dataclasses.dataclass(frozen=True)
class Samples:
    """Variants: one row per variant, one column per path. A grid also knows its axes, in the order of the paths."""

    paths: tuple[str, ...]
    values: np.ndarray  # (variants, paths)
    axes: tuple[np.ndarray, ...] | None = None

    def __post_init__(self):
        values = np.asarray(self.values, dtype=float)
        paths = tuple(self.paths)
        if values.ndim != 2 or values.shape[1] != len(paths) or not len(values):
            raise StudyError(f"Samples: values of shape {values.shape} do not fit {len(paths)} paths and any variants.")
        twice = [p for k, p in enumerate(paths) if p in paths[:k]]
        if twice:
            raise StudyError(f"Samples: `{twice[0]}` is varied twice.")
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise StudyError(f"Samples: variant {row} of `{paths[column]}` is {values[row, column]}.")
        object.__setattr__(self, "paths", paths)
        object.__setattr__(self, "values", values)

    def __len__(self):
        return len(self.values)

    @property
    def shape(self):
        """Sizes of the grid's axes, or the number of variants."""
        return (len(self),) if self.axes is None else tuple(len(a) for a in self.axes)

    @property
    def digest(self):
        return hashlib.sha256("\n".join(self.paths).encode() + self.values.tobytes()).hexdigest()


def grid(axes):
    """All combinations of `{path: values}`; the last path varies fastest."""
    if not axes:
        raise StudyError("grid: give at least one path with its values.")
    values = [np.atleast_1d(np.asarray(v, dtype=float)) for v in axes.values()]
    table = np.stack([x.reshape(-1) for x in np.meshgrid(*values, indexing="ij")], axis=-1)
    return Samples(tuple(axes), table, tuple(values))


def uniform(ranges, count, *, seed=0, log=()):
    """`count` random variants from `{path: (low, high)}`; uniform in the logarithm for the paths in `log`."""
    random = np.random.default_rng(seed)
    columns = []
    for path, (low, high) in ranges.items():
        if not low < high or (path in log and not low > 0):
            raise StudyError(f"uniform: the range ({low:g}, {high:g}) of `{path}` makes no sense.")
        x = random.uniform(np.log(low), np.log(high), count) if path in log else random.uniform(low, high, count)
        columns.append(np.exp(x) if path in log else x)
    return Samples(tuple(ranges), np.stack(columns, axis=-1))


def as_samples(given):
    """Samples, or `{path: column}` of equally long columns."""
    if isinstance(given, Samples):
        return given
    columns = {p: np.atleast_1d(np.asarray(v, dtype=float)) for p, v in dict(given).items()}
    sizes = {p: c.size for p, c in columns.items()}
    if len(set(sizes.values())) != 1:
        raise StudyError(f"Samples: columns of different length: {sizes}. For all combinations use `grid`.")
    return Samples(tuple(columns), np.stack(list(columns.values()), axis=-1))
