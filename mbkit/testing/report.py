"""Reports of checks, law by law."""

from __future__ import annotations

from typing import final

import attrs

from mbkit.errors import ContractError


@final
@attrs.frozen
class Line:
    """One law, and whether it holds.

    Attributes
    ----------
    law : str
        The property that must hold.
    holds : bool or None
        Whether it does; None where it is not checked, or not decided.
    error : float or None
        The largest deviation, in units of the quantity that is compared.
    bound : float or None
        How much is allowed.
    remark : str
        Where it is missed, or further measurements.
    undecided : bool
        Whether it was checked, and the result shows neither that it holds nor that it does not.
        With ``holds=False`` too little was measured: the check fails all the same.
    """

    law: str
    holds: bool | None
    error: float | None = None
    bound: float | None = None
    remark: str = ""
    undecided: bool = False

    def __str__(self) -> str:
        mark = {True: "ok  ", False: "FAIL", None: "--  "}[self.holds]
        mark = "?   " if self.undecided else mark
        numbers = "" if self.error is None else f"{self.error:.1e} (at most {self.bound:.0e})"
        if self.undecided:
            numbers = "undecided"
        return f"{mark}  {self.law:<64}{numbers:<24}{self.remark}".rstrip()


@final
@attrs.frozen
class Report:
    """The findings of a check.

    Attributes
    ----------
    subject : str
        The object that was checked.
    lines : tuple of Line
        One for each law.
    """

    subject: str
    lines: tuple[Line, ...]

    @property
    def holds(self) -> bool:
        """Whether no law is broken, nor any left unmeasured."""
        return not self.failed

    @property
    def failed(self) -> tuple[Line, ...]:
        """The lines of the laws that are broken."""
        return tuple(line for line in self.lines if line.holds is False)

    @property
    def undecided(self) -> tuple[Line, ...]:
        """The lines of the laws that are not decided."""
        return tuple(line for line in self.lines if line.undecided)

    def raise_if_failed(self) -> None:
        """Raise ContractError, with the report for its message, if a law is broken."""
        if self.failed:
            raise ContractError(str(self))

    @property
    def headline(self) -> str:
        """The object that was checked, and how many laws hold."""
        asked = sum(line.holds is not None for line in self.lines)
        held = f"{self.subject}: {asked - len(self.failed)} of {asked} laws hold"
        return held + (f", {len(self.undecided)} undecided." if self.undecided else ".")

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self.lines)])
