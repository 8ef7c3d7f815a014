"""Results of linear analysis: equilibria, linear models, modes."""

from mbkit.linear_models.equilibrium import Equilibrium as Equilibrium
from mbkit.linear_models.linear_model import LinearModel as LinearModel
from mbkit.linear_models.modes import Modes as Modes
