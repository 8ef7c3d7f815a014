"""The algorithms of dynamics in hybrid twists."""

from mbkit.kernels.hybrid.recursion import RECURSION
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(RECURSION, globals()))
