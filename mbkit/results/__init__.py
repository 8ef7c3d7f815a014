"""Results of simulations: arrays with names, and the account of how they came about."""

from mbkit.results.event_log import EventLog as EventLog
from mbkit.results.result import Result as Result

__all__ = ["EventLog", "Result"]
