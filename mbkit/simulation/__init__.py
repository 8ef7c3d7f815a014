"""Simulation: a system and an integrator make a result."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.simulation.fmi import export_fmu as export_fmu
    from mbkit.simulation.long_runs.resume import resume as resume
    from mbkit.simulation.piecewise_efforts import PiecewiseEfforts as PiecewiseEfforts
    from mbkit.simulation.sampled_control import Sampled as Sampled
    from mbkit.simulation.simulate import simulate as simulate
    from mbkit.simulation.stabilisation import Baumgarte as Baumgarte
    from mbkit.simulation.stabilisation import Projection as Projection

look_up_names(__name__)
