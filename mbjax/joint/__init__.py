"""Perfect joints: realisations that only write constraint rows."""

from .base import CONSTRAINED as CONSTRAINED
from .base import FREE as FREE
from .base import MOTIONS as MOTIONS
from .base import AbstractPerfect as AbstractPerfect
from .base import AbstractRealisation as AbstractRealisation
from .custom import CustomRows as CustomRows
from .cylindrical import Cylindrical as Cylindrical
from .free import Free as Free
from .massless_link import MasslessLink as MasslessLink
from .mixed import Mixed as Mixed
from .planar import Planar as Planar
from .revolute import Revolute as Revolute
from .rigid import Rigid as Rigid
from .spherical import Spherical as Spherical
from .translation import Translation as Translation
from .universal import Universal as Universal

CATALOGUE = (
    Revolute,
    Cylindrical,
    Translation,
    Rigid,
    Spherical,
    Universal,
    Planar,
    MasslessLink,
    Free,
    Mixed,
    CustomRows,
)
