"""Mechanisms as FMUs, the models that simulation tools exchange: FMI 2.0 for co-simulation."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.simulation.fmi.export import export_fmu as export_fmu

look_up_names(__name__)
