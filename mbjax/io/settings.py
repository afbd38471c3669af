"""What `[simulation]` in a model file says to the command line. It is no part of the mechanism."""

import dataclasses
from typing import Literal

SOLVERS = (
    "Dopri8", "Dopri5", "Tsit5", "Bosh3", "Kvaerno3", "Kvaerno4", "Kvaerno5", "KenCarp3", "KenCarp4", "KenCarp5",
    "Rodas4",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Settings:
    """How long to simulate, how exactly, and which channels to write."""

    end: float | None = dataclasses.field(default=None, metadata={"unit": "s"})
    start: float = dataclasses.field(default=0.0, metadata={"unit": "s"})
    output_step: float | None = dataclasses.field(default=None, metadata={"unit": "s"})
    samples: int | None = None
    solver: Literal[SOLVERS] = "Dopri8"
    rtol: float = dataclasses.field(default=1e-6, metadata={"unit": "1"})
    max_step: float | None = dataclasses.field(default=None, metadata={"unit": "s"})
    outputs: tuple[str, ...] = ()

    def __post_init__(self):
        if self.end is not None and not self.end > self.start:
            raise ValueError(f"end {self.end:g} s must be after start {self.start:g} s.")
        if self.output_step is not None and self.samples is not None:
            raise ValueError("`output_step` and `samples` both say how many outputs there are; keep one.")
        for name in ("output_step", "max_step", "rtol"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} {value:g} must be positive.")
        if self.samples is not None and self.samples < 2:
            raise ValueError(f"samples {self.samples} must be at least 2 (first and last).")
