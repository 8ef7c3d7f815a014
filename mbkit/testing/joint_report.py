"""What was found of a joint, line by line."""

from __future__ import annotations

from typing import final

import attrs

from mbkit.errors import JointError

__all__ = ["JointReport", "Line"]


@final
@attrs.frozen
class Line:
    """One law, and whether it holds.

    Attributes
    ----------
    law : str
        What must hold.
    holds : bool or None
        Whether it does; None where there is nothing to look at.
    error : float or None
        By how much it is missed at worst, in units of what is compared.
    bound : float or None
        How much is allowed.
    remark : str
        Where it is missed, or why there is nothing to look at.
    """

    law: str
    holds: bool | None
    error: float | None = None
    bound: float | None = None
    remark: str = ""

    def __str__(self) -> str:
        mark = {True: "ok  ", False: "FAIL", None: "--  "}[self.holds]
        numbers = "" if self.error is None else f"{self.error:.1e} (at most {self.bound:.0e})"
        return f"{mark}  {self.law:<56}{numbers:<24}{self.remark}".rstrip()


@final
@attrs.frozen
class JointReport:
    """What `check_joint` found.

    Attributes
    ----------
    joint : str
        Name of the joint, and its class.
    lines : tuple of Line
        One a law.
    """

    joint: str
    lines: tuple[Line, ...]

    @property
    def holds(self) -> bool:
        """Whether no law is broken."""
        return not self.failed

    @property
    def failed(self) -> tuple[Line, ...]:
        """The lines of the laws that are broken."""
        return tuple(line for line in self.lines if line.holds is False)

    def raise_if_failed(self) -> None:
        """Raise JointError, with the report for its message, if a law is broken."""
        if self.failed:
            raise JointError(str(self))

    def __str__(self) -> str:
        looked_at = [line for line in self.lines if line.holds is not None]
        verdict = f"{self.joint}: {len(looked_at) - len(self.failed)} of {len(looked_at)} laws hold"
        return "\n".join([f"{verdict}.", *(f"  {line}" for line in self.lines)])
