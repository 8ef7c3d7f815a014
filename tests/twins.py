"""Arrays of other numbers in the place of doubles: those of `mbkit.studies.laboratory.twins`."""

from mbkit.studies.laboratory.twins import Twins

__all__ = ["Twins"]
