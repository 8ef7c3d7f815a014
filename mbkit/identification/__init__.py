"""Identification of inertial and force parameters from motion, and calibration of geometry."""

from mbkit.identification.calibrate import calibrate as calibrate
from mbkit.identification.identify import identify as identify
from mbkit.identification.results import Identification as Identification

__all__ = ["Identification", "calibrate", "identify"]
