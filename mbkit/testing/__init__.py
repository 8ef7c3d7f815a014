"""What authors of joints and integrators test their own work with."""

from mbkit.testing.integrators import check_integrator as check_integrator
from mbkit.testing.joints import check_joint as check_joint
from mbkit.testing.report import Line as Line
from mbkit.testing.report import Report as Report

__all__ = ["Line", "Report", "check_integrator", "check_joint"]
