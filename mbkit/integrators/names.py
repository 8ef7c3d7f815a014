"""The integrators of mbkit by name; to import this table imports all of them."""

from mbkit.catalogue import by_name
from mbkit.integrators import built_in
from mbkit.integrators.integrator import Integrator

#: The integrators that mbkit brings, by the names that studies have for them.
INTEGRATORS: dict[str, type[Integrator]] = by_name(built_in, Integrator)
