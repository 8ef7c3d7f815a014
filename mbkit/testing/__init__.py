"""What authors of integrators test their own work with."""

from mbkit.testing.integrators import check_integrator as check_integrator
from mbkit.testing.report import Line as Line
from mbkit.testing.report import Report as Report

__all__ = ["Line", "Report", "check_integrator"]
