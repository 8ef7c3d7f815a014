"""The algorithms of dynamics in spatial twists."""

from mbkit.kernels.recursions.algorithms import algorithms
from mbkit.kernels.spatial.recursion import RECURSION

globals().update(algorithms(RECURSION, globals()))
