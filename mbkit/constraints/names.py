"""The constraints of mbkit by name; to import this table imports all of them."""

from mbkit.catalogue import by_name
from mbkit.constraints import built_in
from mbkit.constraints.constraint import Constraint

#: The constraints that mbkit brings, by the names that model files have for them.
CONSTRAINT_TYPES: dict[str, type[Constraint]] = by_name(built_in, Constraint)
