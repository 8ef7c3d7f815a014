"""Remedies of messages as the command line has them, where they are calls in Python."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import click

#: Where the command that goes on with the run stands in click's context.
_GOES_ON = "mbkit.goes_on"

#: A call that goes on with a run, and other commands that may do so.
_CALL = r"mbkit\.resume\('[^']*'\)(?: or mbkit simulate --resume .*?--resume(?=;))?"

#: The option in place of a call that finds a state.
_BY_JOINTS = (
    "of all joints of the loop: --{0} JOINT=VALUE, or {0} of the table [initial] of a study."
)

#: Parts of messages, and their replacements.
_REMEDIES = {
    r"Close them first: q = system\..*$": f"Give positions {_BY_JOINTS.format('q')}",
    r"velocities that go together: v = .*$": f"velocities that agree {_BY_JOINTS.format('v')}",
    r"mechanism\.add_limit_stops\(\) adds stops to all of them": (
        "a table of type limit_stop among [forces] of the model does"
    ),
    r"import its module first, or pass \w+=\{.*?\} to load_model, or "
    r"install the plugin that has it": (
        "run the command in the folder of the project that has it, or install its plugin"
    ),
    r"; give it: run\.animate\(path, system=system\)": "",
    r"mbkit\.RelativeCoordinates\(\)": "--coordinates relative",
    r"An implicit method takes larger ones: .*$": (
        'An implicit method takes larger ones: integrator = {type = "generalized_alpha", '
        "rtol = 1e-5} of a study."
    ),
    r"(Use a smaller h), .*mbkit\.GeneralizedAlpha\(\) where parts are stiff": (
        r"\1, or another integrator in a study, adaptive or implicit"
    ),
}


def on_the_command_line(message: str) -> str:
    """Return the message of an exception with remedies that are options, in place of calls.

    Examples
    --------
    >>> on_the_command_line("Give it mass, or take mbkit.RelativeCoordinates().")
    'Give it mass, or take --coordinates relative.'
    >>> on_the_command_line(
    ...     "import its module first, or pass force_types={'a:B': Class} to load_model, or "
    ...     "install the plugin that has it."
    ... )
    'run the command in the folder of the project that has it, or install its plugin.'
    """
    for call, option in _REMEDIES.items():
        message = re.sub(call, option, message, flags=re.MULTILINE)
    context = click.get_current_context(silent=True)
    is_study = context is not None and context.find_root().invoked_subcommand == "run"
    size = "h (--set h=...)" if is_study else "--h"
    message = re.sub(r"(Use a smaller) h\b(?!=)", rf"\1 {size}", message)
    goes_on = None if context is None else context.meta.get(_GOES_ON)
    return message if goes_on is None else re.sub(_CALL, lambda _: str(goes_on), message)


def goes_on_by(command: Sequence[str]) -> None:
    """Note the command that goes on with the run, for messages that name a call of `mbkit.resume`.

    Unlike the call, it loads the project that the run is of.
    """
    click.get_current_context().meta[_GOES_ON] = shlex.join(command)
