"""Derivatives of whole runs by their start, their inputs and the parameters of their model.

`mbkit.sensitivities` goes forward through the steps, `mbkit.gradient` backward, by the adjoint. The
contract of an integrator that takes part is in `mbkit.sensitivities.linear_steps`: a subclass of
`Linearisation` called `Steps` in a module of its own, named in `mbkit.sensitivities.methods`, and
the `LinearSteps` that it takes.
"""

from mbkit.sensitivities.adjoint import Gradient as Gradient
from mbkit.sensitivities.adjoint import gradient as gradient
from mbkit.sensitivities.forward import Sensitivities as Sensitivities
from mbkit.sensitivities.forward import sensitivities as sensitivities
from mbkit.sensitivities.linear_steps import Linearisation as Linearisation
from mbkit.sensitivities.linear_steps import LinearSteps as LinearSteps

__all__ = ["Gradient", "LinearSteps", "Linearisation", "Sensitivities", "gradient", "sensitivities"]
