"""What a simulation leaves behind: arrays with names, and everything needed to tell how."""

from mbkit.results.event_log import EventLog as EventLog
from mbkit.results.result import Result as Result

__all__ = ["EventLog", "Result"]
