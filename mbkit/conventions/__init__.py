"""Conventions of other programs: their names, and conversions in both directions.

`PINOCCHIO`, `MUJOCO`, `IDYNTREE` and `DRAKE` are objects of one class, `Convention`. None of the
programs is needed.
"""

from mbkit.conventions.convention import Convention as Convention
from mbkit.conventions.form import Form as Form
from mbkit.conventions.free_joint import FreeJointConvention as FreeJointConvention
from mbkit.conventions.programs import DRAKE as DRAKE
from mbkit.conventions.programs import IDYNTREE as IDYNTREE
from mbkit.conventions.programs import MUJOCO as MUJOCO
from mbkit.conventions.programs import PINOCCHIO as PINOCCHIO

__all__ = [
    "DRAKE",
    "IDYNTREE",
    "MUJOCO",
    "PINOCCHIO",
    "Convention",
    "Form",
    "FreeJointConvention",
]
