"""The strategies that mbkit brings: a new one is its class, and its line here.

The public names, and the names of strategies in results, follow from this list.
"""

from mbkit.solvers.strategies import MinimumNorm as MinimumNorm
from mbkit.solvers.strategies import NullSpace as NullSpace
from mbkit.solvers.strategies import SchurComplement as SchurComplement
