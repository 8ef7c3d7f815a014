"""Results: of simulations, arrays with names and how they came about; and of diagnoses.

They are written to files, and read again, by `mbkit.io.results`.
"""

from mbkit.results.ensemble import Ensemble as Ensemble
from mbkit.results.event_log import EventLog as EventLog
from mbkit.results.result import Result as Result

__all__ = ["Ensemble", "EventLog", "Result"]
