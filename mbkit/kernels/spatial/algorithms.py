"""The algorithms of dynamics in spatial twists.

They are those of `mbkit.kernels.recursions`, such as `articulated_body`, by the operators in
`operators.py` of this package.
"""

from mbkit.kernels.recursions.algorithms import algorithms
from mbkit.kernels.spatial.operators import RECURSION

globals().update(algorithms(RECURSION, globals()))
