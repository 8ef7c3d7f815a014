"""Constraints: what bodies and joints must keep, besides the joints between them.

Loop joints are no classes of this package: their rows are made in
`mbkit.kernels.constraints.kinds.loop_joint`.
"""

from mbkit.catalogue import by_name
from mbkit.constraints import built_in
from mbkit.constraints.built_in import *
from mbkit.constraints.constraint import Constraint as Constraint
from mbkit.constraints.definition import check_constraint_definition as check_constraint_definition
from mbkit.constraints.definition import check_constraint_names as check_constraint_names

#: The constraints that mbkit brings, by the names that model files have for them.
CONSTRAINT_TYPES: dict[str, type[Constraint]] = by_name(built_in, Constraint)
