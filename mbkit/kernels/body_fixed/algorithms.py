"""The algorithms of dynamics in body-fixed twists."""

from mbkit.kernels.body_fixed.steps import STEPS
from mbkit.kernels.recursions.algorithms import algorithms

globals().update(algorithms(STEPS, globals()))
