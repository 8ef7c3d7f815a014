"""The algorithms of dynamics in body-fixed twists.

They are those of `mbkit.kernels.recursions`, such as `articulated_body`, by the recursion in
`recursion.py` beside this file.
"""

from mbkit.kernels.body_fixed.recursion import RECURSION
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(RECURSION, globals()))
