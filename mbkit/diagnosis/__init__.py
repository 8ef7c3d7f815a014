"""Diagnosis of constraints: mobility, redundant constraints, uniqueness of reactions."""

from mbkit.diagnosis.diagnose import diagnose as diagnose
from mbkit.results.diagnosis import Branch as Branch
from mbkit.results.diagnosis import Diagnosis as Diagnosis
from mbkit.results.diagnosis import LoopScrews as LoopScrews
from mbkit.results.diagnosis import Reaction as Reaction

__all__ = ["Branch", "Diagnosis", "LoopScrews", "Reaction", "diagnose"]
