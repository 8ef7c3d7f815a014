"""The forces of mbkit by name; to import this table imports all of them."""

from mbkit.catalogue import by_name
from mbkit.forces import built_in
from mbkit.forces.force import Force

#: The forces that mbkit brings, by the names that model files have for them.
FORCE_TYPES: dict[str, type[Force]] = by_name(built_in, Force)
