"""Constraints: conditions on bodies and joints, besides the joints between them.

Loop joints are no classes of this package: their rows are made in
`mbkit.kernels.constraints.kinds.loop_joint`.
"""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.constraints.built_in import *
    from mbkit.constraints.constraint import Constraint as Constraint
    from mbkit.constraints.definition import (
        check_constraint_definition as check_constraint_definition,
    )
    from mbkit.constraints.definition import check_constraint_names as check_constraint_names
    from mbkit.constraints.names import CONSTRAINT_TYPES as CONSTRAINT_TYPES

look_up_names(__name__)
