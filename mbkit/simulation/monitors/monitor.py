"""`Monitor`: it looks at a run as it goes, and warns once of a finding."""

from __future__ import annotations

import abc
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

from mbkit.integrators.integrator import Rows

__all__ = ["Monitor"]


class Monitor(abc.ABC):
    """Looks at a run for one thing that may be wrong with its numbers, and warns of the first.

    A subclass sets `finding` in `look`, or where it hears of states otherwise.

    Attributes
    ----------
    finding : str
        The text of the warning; empty as long as there is none.
    is_told : bool
        Whether the warning was issued.
    """

    #: How the finding begins, which is found again among those of a run that goes on.
    BEGINS: ClassVar[str]

    #: The category of the warning.
    CATEGORY: ClassVar[type[Warning]]

    def __init__(self) -> None:
        self.finding = ""
        self.is_told = False

    def look(self, rows: Rows, t: float, q: Any) -> None:  # noqa: B027  # some hear otherwise
        """Look at rows that were written, and at the state of the problem, which comes later."""

    def tell(self) -> None:
        """Warn of the findings, once."""
        if self.finding and not self.is_told:
            self.is_told = True
            warnings.warn(self.finding, self.CATEGORY, stacklevel=2)

    def resume(self, findings: Iterable[Any]) -> None:
        """Take over the findings of a run that goes on, whose warnings were issued before."""
        for text in map(str, findings):
            if text.startswith(self.BEGINS):
                self.finding, self.is_told = text, True
