"""Remedies of messages as the command line has them, where they are calls in Python."""

from __future__ import annotations

import re

#: What stands in place of a call that finds a state.
_BY_JOINTS = (
    "of all joints of the loop: --{0} JOINT=VALUE, or {0} of the table [initial] of a study."
)

#: What a message ends with or names, and what stands for it.
_REMEDIES = {
    r"Close them first: q = system\..*$": f"Give positions {_BY_JOINTS.format('q')}",
    r"velocities that go together: v = .*$": f"velocities that agree {_BY_JOINTS.format('v')}",
    r"mbkit\.RelativeCoordinates\(\)": "--coordinates relative",
    r"Use a smaller h, .*mbkit\.GeneralizedAlpha\(\) where parts are stiff": (
        "Use a smaller --h, or another integrator in a study, adaptive or implicit"
    ),
}


def on_the_command_line(message: str) -> str:
    """Return the message of an exception with remedies that are options, in place of calls.

    Examples
    --------
    >>> on_the_command_line("Give it mass, or take mbkit.RelativeCoordinates().")
    'Give it mass, or take --coordinates relative.'
    """
    for call, option in _REMEDIES.items():
        message = re.sub(call, option, message, flags=re.MULTILINE)
    return message
