"""Integrators that take their steps by one of scipy's one-step methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np

from mbkit.given_values import as_number
from mbkit.integrators.checks import (
    has_tolerance,
)
from mbkit.integrators.classical.scipy_methods import (
    METHODS,
    AdaptiveSteps,
    Rates,
    check_method,
    check_tolerance,
    one_step,
)
from mbkit.integrators.description import shown
from mbkit.integrators.integrator import Integrator, Problem

__all__ = ["OneStepIntegrator"]


class Model(Protocol):
    """The equations of motion as an initial value problem for a vector y."""

    @property
    def start(self) -> Any:
        """The state at the beginning of a step, with no work done yet."""
        ...

    def begin(self, t: float) -> None:
        """Let the next rates be those of a step from t on."""
        ...

    def rates(self, s: float, y: Any) -> Any:
        """Return the rates of y at t + s."""
        ...

    def take_over(self, end: float, y: Any) -> None:
        """Make the end of a step the state of the problem; `StepFailed` where it may not be."""
        ...


@attrs.frozen(repr=False)
class OneStepIntegrator(Integrator):
    """One of scipy's methods, over exactly one step of size h or within tolerances.

    Attributes
    ----------
    method : {"RK45", "DOP853", "RK23", "Radau"}
        One of scipy's solvers.
    rtol, atol : float, optional
        Tolerances of scipy; steps have one size if both are left out.
    """

    looks = True
    takes_constraints = True

    #: Why methods that go on from the states of several steps are refused.
    why_one_step: ClassVar[str]

    method: str = "RK45"
    rtol: float | None = attrs.field(default=None, converter=as_number)
    atol: float | None = attrs.field(default=None, converter=as_number)

    def __attrs_post_init__(self) -> None:
        check_method(self, self.why_one_step)
        check_tolerance(self, "rtol")
        check_tolerance(self, "atol")

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of convergence in q and v."""
        return METHODS[self.method]

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether steps are chosen by `rtol` or `atol`."""
        return has_tolerance(self)

    __repr__ = shown

    def step_of(
        self, problem: Problem, model: Model, rates: Rates, own: AdaptiveSteps | None
    ) -> Callable[[float, float], None]:
        """Return ``step(t, end)``, which takes one step of size h, or by `own` as many as it takes.

        `rates` are those of the model. The largest step within h is the problem's memory.
        """
        memory = problem.memory
        if own is None:

            def step(t: float, end: float) -> None:
                model.begin(t)
                model.take_over(end, one_step(self.method, rates, model.start, problem.h))

            return step

        memory["step_size"] = np.zeros(1)

        def steps(t: float, end: float) -> None:
            model.begin(t)
            remembered = float(memory["step_size"][0])
            y, widest = own.go(rates, model.start, t, problem.h, remembered)
            model.take_over(end, y)
            memory["step_size"][0] = widest

        return steps
