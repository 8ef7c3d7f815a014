"""Diagnosis of constraints: freedoms left, redundant constraints, reactions that are unique."""

from mbkit.diagnosis.diagnose import diagnose as diagnose
from mbkit.diagnosis.diagnosis import Branch as Branch
from mbkit.diagnosis.diagnosis import Diagnosis as Diagnosis
from mbkit.diagnosis.diagnosis import LoopScrews as LoopScrews
from mbkit.diagnosis.diagnosis import Reaction as Reaction

__all__ = ["Branch", "Diagnosis", "LoopScrews", "Reaction", "diagnose"]
