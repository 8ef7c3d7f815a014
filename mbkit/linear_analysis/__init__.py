"""Small motions around a state: equilibria, linear models, modes, compliance."""

from mbkit.linear_analysis.equilibrium import Equilibrium as Equilibrium
from mbkit.linear_analysis.linear_model import LinearModel as LinearModel
from mbkit.linear_analysis.modes import Modes as Modes
