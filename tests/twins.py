"""Arrays of other numbers in the place of doubles, as counts of operations have them."""

from mbkit.studies.laboratory.counting.twins import Twins

__all__ = ["Twins"]
