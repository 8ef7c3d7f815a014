"""Mechanisms as FMUs, the models that simulation tools exchange: FMI 2.0 for co-simulation."""

from mbkit.simulation.fmi.export import export_fmu as export_fmu

__all__ = ["export_fmu"]
