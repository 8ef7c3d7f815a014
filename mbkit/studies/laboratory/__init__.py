"""The laboratory: studies of what representations, coordinates and integrators cost and give."""

from mbkit.studies.laboratory.compare import compare as compare
from mbkit.studies.laboratory.findings import Findings as Findings
from mbkit.studies.laboratory.table import Table as Table
