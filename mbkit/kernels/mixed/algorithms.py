"""The algorithms of dynamics in mixed twists.

They are those of `mbkit.kernels.recursions`, such as `articulated_body`, by the operators in
`operators.py` of this package.
"""

from mbkit.kernels.mixed.operators import RECURSION
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(RECURSION, globals()))
