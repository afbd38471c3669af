"""What is fitted: numbers of a mechanism by path, with a start, bounds and a scale."""

import dataclasses
import math

import numpy as np

SCALES = ("linear", "log")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One unknown, written to one or several `paths` of the mechanism (left = right bushing is two paths).

    `start` None takes the mechanism's own number. `scale` "log" fits the logarithm, which is right for stiffness,
    viscosity and whatever else may be off by a factor; bounds must then be positive. `prior` is (mean, standard
    deviation) of a normal distribution of the value (of its logarithm with scale "log"). `experiments` names the
    experiments that feel it, where it is not the same in all (a temperature, the zero of an encoder); elsewhere the
    mechanism's own number stays.
    """

    name: str
    paths: tuple[str, ...]
    start: float | None = None
    lower: float = -math.inf
    upper: float = math.inf
    scale: str = "linear"
    unit: str = ""
    prior: tuple[float, float] | None = None
    experiments: tuple[str, ...] | None = None
    step: float | None = None  # on a linear scale, what counts as one in the space of the fit; default: the start

    def __post_init__(self):
        paths = (self.paths,) if isinstance(self.paths, str) else tuple(self.paths)
        object.__setattr__(self, "paths", paths)
        if self.experiments is not None:
            names = (self.experiments,) if isinstance(self.experiments, str) else tuple(self.experiments)
            object.__setattr__(self, "experiments", names)
        if not paths:
            raise ValueError(f"Parameter `{self.name}`: give at least one path.")
        if self.scale not in SCALES:
            raise ValueError(f"Parameter `{self.name}`: scale `{self.scale}` is unknown; choose `linear` or `log`.")
        lower = self.lower if self.scale == "linear" or math.isfinite(self.lower) else 0.0
        if not lower < self.upper:
            raise ValueError(f"Parameter `{self.name}`: lower {lower:g} must be below upper {self.upper:g}.")
        if self.scale == "log" and lower < 0:
            raise ValueError(f"Parameter `{self.name}`: a log scale needs positive bounds, got lower {lower:g}.")
        object.__setattr__(self, "lower", lower)
        if self.start is not None:
            self.check_start(self.start)
        if self.prior is not None and not self.prior[1] > 0:
            raise ValueError(f"Parameter `{self.name}`: the prior's deviation {self.prior[1]:g} must be positive.")
        if self.prior is not None and self.scale == "log" and not self.prior[0] > 0:
            raise ValueError(
                f"Parameter `{self.name}`: with a log scale the prior's mean must be positive, got {self.prior[0]:g}."
            )

    def felt_in(self, experiment):
        """Whether it is a parameter of that experiment."""
        return self.experiments is None or experiment in self.experiments

    def check_start(self, value):
        if not self.lower <= value <= self.upper:
            raise ValueError(
                f"Parameter `{self.name}`: start {value:g} lies outside its bounds [{self.lower:g}, {self.upper:g}]."
            )
        if self.scale == "log" and not value > 0:
            raise ValueError(f"Parameter `{self.name}`: a log scale needs a positive start, got {value:g}.")

    def unit_step(self, start):
        """The value change that counts as one in the space of the fit (linear scale)."""
        if self.step is not None:
            return self.step
        if start:
            return abs(start)
        width = self.upper - self.lower
        return width if math.isfinite(width) else 1.0


class Space:
    """The space in which a fit walks: logarithms, or values over the size of their start."""

    def __init__(self, parameters, starts):
        self.log = np.array([p.scale == "log" for p in parameters])
        steps = [p.unit_step(s) for p, s in zip(parameters, starts, strict=True)]
        self.unit = np.where(self.log, 1.0, steps)
        self.lower = self.inward(np.array([p.lower for p in parameters], dtype=float))
        self.upper = self.inward(np.array([p.upper for p in parameters], dtype=float))
        self.start = self.inward(np.array(starts, dtype=float))

    def inward(self, values):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.log, np.log(np.where(self.log, values, 1.0)), values / self.unit)

    def outward(self, u):
        """Values; of NumPy or traced arrays."""
        namespace = np if isinstance(u, np.ndarray) else _jnp()
        return namespace.where(self.log, namespace.exp(namespace.where(self.log, u, 0.0)), u * self.unit)

    def slope(self, u):
        """d value / d u."""
        return np.where(self.log, self.outward(u), self.unit)


def _jnp():
    import jax.numpy

    return jax.numpy
