"""Force elements. Each accounts for its energy and belongs to bodies or to a joint coordinate."""

from .applied import AppliedForce as AppliedForce
from .base import AbstractElement as AbstractElement
from .base import AbstractLoad as AbstractLoad
from .gravity import Gravity as Gravity
from .joint_force import JointForce as JointForce
from .joint_friction import JointFriction as JointFriction
from .joint_spring import JointSpring as JointSpring
from .motor import Motor as Motor
from .spring import SpringDamper as SpringDamper

CATALOGUE = (Gravity, SpringDamper, JointSpring, AppliedForce, JointForce, JointFriction, Motor)
