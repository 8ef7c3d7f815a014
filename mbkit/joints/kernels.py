"""Compiled functions of a joint, as a system takes them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol

import attrs

from mbkit.errors import JointError, UsageError, suggestion

__all__ = ["Addressed", "CompiledFunction", "JointKernels", "joint_kernel"]

#: The functions of the table, with their arguments; docs/architecture.md lists those that are
#: pointers.
ARGUMENTS = {
    "motion": ("slot", "parameters", "q", "v", "R", "p", "S", "bias"),
    "retract": ("slot", "parameters", "q", "dx", "out"),
    "difference": ("slot", "parameters", "q0", "q1", "out"),
    "dexp_inv": ("slot", "parameters", "x", "w", "out"),
    "rates": ("slot", "parameters", "q", "v", "out"),
    "constraint_wrenches": ("slot", "parameters", "q", "out"),
    "configuration_from_pose": ("slot", "parameters", "T", "out"),
}


class Addressed(Protocol):
    """A compiled function, as `joint_kernel` makes it."""

    @property
    def address(self) -> int:
        """The address of the function, for the table of functions."""
        ...


class CompiledFunction:
    """A function of the table of joints; the first access to its address compiles or loads it.

    `function` is the Python function it was made from, `operation` which one of the table it is.
    """

    def __init__(self, function: Callable[..., int], operation: str) -> None:
        self.function = function
        self.operation = operation

    @functools.cached_property
    def _made(self) -> Any:
        from mbkit.kernels.compile import address_kernel

        return address_kernel("i" + "p" * (len(ARGUMENTS[self.operation]) - 1))(self.function)

    @property
    def address(self) -> int:
        """The address of the function, for the table of functions."""
        return int(self._made.address)


def joint_kernel(operation: str) -> Callable[[Callable[..., int]], CompiledFunction]:
    """Return a decorator that makes a compiled form of a method of a joint; see `JointKernels`.

    Parameters
    ----------
    operation : str
        Which method: "motion", which stands for pose, motion subspace and bias together,
        "retract", "difference", "dexp_inv", "rates", "constraint_wrenches", or
        "configuration_from_pose".

    Returns
    -------
    callable
        The decorator. It takes a function at the top of a module: one that is made inside another
        function would be compiled anew in each process. The function gets pointers to numbers,
        which are indexed like flat arrays, and returns 0, or another integer where it fails. It may
        use `math` and numba's functions, and call functions under ``mbkit.kernels.compile.helper``.

    Raises
    ------
    JointError
        If there is no such operation, or the function takes other arguments.

    Examples
    --------
    >>> @joint_kernel("motion")
    ... def motion(slot, parameters, q, v, R, p, S, bias):
    ...     for j in range(9):
    ...         R[j] = 1.0 if j % 4 == 0 else 0.0
    ...     for j in range(6):
    ...         S[j] = 1.0 if j == 5 else 0.0
    ...         bias[j] = 0.0
    ...     p[0] = 0.0
    ...     p[1] = 0.0
    ...     p[2] = q[0]
    ...     return 0
    >>> JointKernels(motion=motion).motion.operation
    'motion'
    """
    if operation not in ARGUMENTS:
        raise UsageError(
            f"joint_kernel: a joint has no operation {operation!r}; "
            f"{suggestion(operation, ARGUMENTS)}"
        )

    def decorate(function: Callable[..., int]) -> CompiledFunction:
        expected = ARGUMENTS[operation]
        if len(inspect.signature(function).parameters) != len(expected):
            raise JointError(
                f"The compiled form of {operation} must take ({', '.join(expected)}); "
                f"{function.__name__} takes {inspect.signature(function)}."
            )
        return CompiledFunction(function, operation)

    return decorate


@attrs.frozen
class JointKernels:
    """The compiled forms of a joint's methods, in its canonical frame.

    Each is a function under `joint_kernel`. It gets flat float64 pointers, and returns 0, or
    another integer where it fails. `slot` is of no use to compiled joints; `parameters`
    points to the array of `Joint.parameters`.

    Attributes
    ----------
    motion : compiled function
        ``motion(slot, parameters, q, v, R, p, S, bias)`` writes the pose as R (9, by rows) and
        p (3), the motion subspace as S (6 nv, column after column), and the bias (6).
    retract, difference, dexp_inv : compiled function, optional
        ``retract(slot, parameters, q, dx, out)``, ``difference(slot, parameters, q0, q1, out)``,
        ``dexp_inv(slot, parameters, x, w, out)``. Absent where the defaults of `Joint` hold.
    rates : compiled function, of nonholonomic joints
        ``rates(slot, parameters, q, v, out)``.
    constraint_wrenches : compiled function, optional
        ``constraint_wrenches(slot, parameters, q, out)`` writes 6 - nv wrenches, one after another.
        Absent, a basis is computed from the motion.
    configuration_from_pose : compiled function, optional
        ``configuration_from_pose(slot, parameters, T, out)`` writes the one whose pose is
        nearest to T, R by rows (9) and p (3). Absent, it is searched with the motion and `retract`.
    """

    motion: Addressed
    retract: Addressed | None = None
    difference: Addressed | None = None
    dexp_inv: Addressed | None = None
    rates: Addressed | None = None
    constraint_wrenches: Addressed | None = None
    configuration_from_pose: Addressed | None = None

    @classmethod
    def of(cls, module: Any, **others: Addressed | None) -> JointKernels:
        """Return the functions of a module that are called as here, and others in their place."""
        found: dict[str, Any] = {name: getattr(module, name, None) for name in ARGUMENTS}
        return cls(**(found | others))

    def __attrs_post_init__(self) -> None:
        for operation in ARGUMENTS:
            function: Any = getattr(self, operation)
            if function is None and operation != "motion":
                continue
            if getattr(type(function), "address", None) is None:
                raise JointError(
                    f"JointKernels: {operation} must be a function under "
                    f'@mbkit.joint_kernel("{operation}"), got {function!r}.'
                )
            given = getattr(function, "operation", operation)
            if given != operation:
                raise JointError(
                    f"JointKernels: {operation} must be a function under "
                    f'@mbkit.joint_kernel("{operation}"), got one under "{given}".'
                )
