"""The contract of a twist representation."""

from __future__ import annotations

import abc
import importlib
from typing import Any, ClassVar

__all__ = ["Representation"]


class Representation(abc.ABC):
    """A way to write the twist of a body, together with the recursions that are written in it.

    A representation changes twists, wrenches, Jacobians and accelerations of bodies. It never
    changes ``q``, ``v``, ``tau`` or the mass matrix.

    1. `name` is the word for it in files and messages.
    2. `kernel_package` is an importable package of compiled recursions. Its modules and their
       functions, all called with the address of a workspace first, are

       ===================== =================================== ============================
       module                function                            arguments
       ===================== =================================== ============================
       ``inverse_dynamics``  ``inverse_dynamics``                q, v, vdot, loaded, tau
       ``forward_dynamics``  ``forward_dynamics``                q, v, tau, loaded, vdot
       ``forward_dynamics``  ``forward_dynamics_of`` (address)   q, v, tau, vdot
       ``mass_matrix``       ``mass_matrix``                     q, M
       ``kinematics``        ``twists``                          q, v, out
       ``kinematics``        ``accelerations``                   q, v, vdot, out
       ``kinematics``        ``jacobian``                        body, q, out
       ``kinematics``        ``apply_wrenches``                  wrenches
       ===================== =================================== ============================

       The last argument is written; the others are read.
    3. Every function agrees with the others: what one gives, the others take.
    """

    name: ClassVar[str]
    kernel_package: ClassVar[str]

    def kernel(self, module: str, function: str) -> Any:
        """Return a compiled function of this representation; the first call compiles it.

        Parameters
        ----------
        module, function : str
            As in the table of the class.

        Returns
        -------
        callable or FunctionAddress
            The kernel.

        Examples
        --------
        >>> from mbkit.representations import BodyFixed
        >>> BodyFixed().kernel("mass_matrix", "mass_matrix").__name__
        'mass_matrix'
        """
        return getattr(importlib.import_module(f"{self.kernel_package}.{module}"), function)
