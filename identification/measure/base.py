from abc import abstractmethod

import equinox as eqx


class AbstractMeasure(eqx.Module):
    """A few numbers of a motion, as a traceable function of its trajectory.

    `labels` name the numbers; `events` is how many rows of the log of contacts it needs (0: none). Where a number does
    not exist (the fifth impact of a motion that has four) it is NaN.
    """

    @property
    def events(self):
        return 0

    @abstractmethod
    def labels(self):
        """One name per number."""

    @abstractmethod
    def __call__(self, trajectory):
        """The numbers, shape (len(labels),)."""


def labels_of(measures):
    """Names of the numbers of several measures, in order."""
    return tuple(label for m in measures for label in m.labels())


def events_of(measures):
    """Rows of the log of contacts that several measures need."""
    return max((m.events for m in measures), default=0)
