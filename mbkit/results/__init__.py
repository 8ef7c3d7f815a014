"""What a simulation leaves behind: arrays with names, and everything needed to tell how."""

from mbkit.results.result import Result

__all__ = ["Result"]
