"""The algorithms of dynamics in mixed twists."""

from mbkit.kernels.mixed.recursion import RECURSION
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(RECURSION, globals()))
