"""Forces: what drives, holds and brakes a mechanism."""

from mbkit.forces.body_wrench import BodyWrench as BodyWrench
from mbkit.forces.bushing import Bushing as Bushing
from mbkit.forces.definition import check_force_definition as check_force_definition
from mbkit.forces.definition import check_force_names as check_force_names
from mbkit.forces.drag import Drag as Drag
from mbkit.forces.dry_friction import DryFriction as DryFriction
from mbkit.forces.force import Force as Force
from mbkit.forces.force_function import ForceFunction as ForceFunction
from mbkit.forces.joint_damper import JointDamper as JointDamper
from mbkit.forces.joint_effort import JointEffort as JointEffort
from mbkit.forces.joint_spring import JointSpring as JointSpring
from mbkit.forces.kernels import ForceKernels as ForceKernels
from mbkit.forces.limit_stop import LimitStop as LimitStop
from mbkit.forces.spring_damper import SpringDamper as SpringDamper
from mbkit.forces.uniform_field import UniformField as UniformField

#: The forces that mbkit brings, in the order of the documentation.
BUILT_IN_FORCES: tuple[type[Force], ...] = (
    JointSpring,
    JointDamper,
    DryFriction,
    JointEffort,
    LimitStop,
    SpringDamper,
    Bushing,
    BodyWrench,
    UniformField,
    Drag,
)

__all__ = [
    "BUILT_IN_FORCES",
    "BodyWrench",
    "Bushing",
    "Drag",
    "DryFriction",
    "Force",
    "ForceFunction",
    "ForceKernels",
    "JointDamper",
    "JointEffort",
    "JointSpring",
    "LimitStop",
    "SpringDamper",
    "UniformField",
    "check_force_definition",
    "check_force_names",
]
