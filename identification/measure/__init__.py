"""Numbers that stand for a whole motion: what a sweep keeps, what a sensitivity is of, what a feature compares."""

from .base import AbstractMeasure, events_of, labels_of
from .channel import Final, Mean, PeakToPeak, RootMeanSquare, Spectrum
from .contact import ContactCount, Contacts, LargestForce
from .custom import Custom
from .energy import EnergyLoss
from .poincare import Poincare

CATALOGUE = (
    ContactCount, Contacts, Custom, EnergyLoss, Final, LargestForce, Mean, PeakToPeak, Poincare, RootMeanSquare,
    Spectrum,
)  # fmt: skip

__all__ = ["CATALOGUE", "AbstractMeasure", "events_of", "labels_of", *(m.__name__ for m in CATALOGUE)]
