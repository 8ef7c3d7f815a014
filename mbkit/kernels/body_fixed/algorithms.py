"""The algorithms of dynamics in body-fixed twists."""

from mbkit.kernels.body_fixed.recursion import RECURSION
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(RECURSION, globals()))
