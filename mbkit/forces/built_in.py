"""The forces that mbkit brings: a new one is its file, and its line here.

Their names in model files, and the public ones, follow from this list: see `mbkit.catalogue`.
Messages and tables keep its order.
"""

# isort: off
from mbkit.forces.joint_spring import JointSpring as JointSpring
from mbkit.forces.joint_damper import JointDamper as JointDamper
from mbkit.forces.dry_friction import DryFriction as DryFriction
from mbkit.forces.joint_effort import JointEffort as JointEffort
from mbkit.forces.limit_stop import LimitStop as LimitStop
from mbkit.forces.spring_damper import SpringDamper as SpringDamper
from mbkit.forces.bushing import Bushing as Bushing
from mbkit.forces.body_wrench import BodyWrench as BodyWrench
from mbkit.forces.uniform_field import UniformField as UniformField
from mbkit.forces.drag import Drag as Drag
