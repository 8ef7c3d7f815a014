"""Stiff motions, whose steps stability keeps small in explicit methods, and not accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import MbkitError, StiffnessWarning
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.integrators.integrator import EVALUATIONS, Problem, Rows
from mbkit.simulation.monitors.growth import MOST, fastest_rate
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.systems.forms.momentum_form import MomentaInLoops

__all__ = ["Stiffness"]

#: Evaluations before the first look, which is repeated whenever their number has doubled: the price
#: of a look, an eigenvalue problem, is then a small part of that of the run.
FIRST = 5_000

#: Steps between two grid points from which on a run may be called slow.
MANY = 5.0

#: Least product of step and fastest rate at the bound of stability: that of the pair of order 5 is
#: 3.3 for a decay, and 0.95 for a vibration.
BOUND = 0.7

#: Error of a step of an undamped vibration of size 1, over (step times rate)^5, in the pair of
#: order 5: |b_i - b^_i| of its sixth stage condition.
CONSTANT = 1e-3


class Stiffness(Monitor):
    """Looks from time to time whether steps are as large as stability allows.

    Where h rate, with the fastest rate of small motions about the state, is at the bound of
    stability of the method, and far above that with which a vibration of this rate is resolved at
    the tolerance, that part of the motion has died out and only limits the steps.
    """

    BEGINS = "The motion is stiff"
    CATEGORY = StiffnessWarning

    def __init__(
        self,
        system: System,
        method: RungeKuttaMuntheKaas,
        problem: Problem,
        momenta: MomentaInLoops | None,
        *,
        tau: bool,
    ) -> None:
        super().__init__()
        self._system, self._method, self._problem = system, method, problem
        self._momenta = momenta
        self._tau = problem.tau if tau else None
        self._next = float(FIRST)
        self._last = problem.t0, 0.0

    @classmethod
    def of(
        cls,
        system: System,
        integrator: Integrator,
        problem: Problem,
        momenta: MomentaInLoops | None,
        *,
        tau: bool,
    ) -> Stiffness | None:
        """Return the monitor of a run; None for integrators that do not need it.

        `momenta` are those of a run in them; `tau`: whether the run has efforts that are a
        function of its state.
        """
        explicit = isinstance(integrator, RungeKuttaMuntheKaas) and integrator.adaptive
        if not explicit or system.nv > MOST:
            return None
        return cls(system, integrator, problem, momenta, tau=tau)  # type: ignore[arg-type]

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Look at the state of the problem at a time."""
        count = float(self._problem.counts[EVALUATIONS])
        if self.finding or count < self._next:
            return
        (before, counted), self._last = self._last, (t, count)
        self._next = 2.0 * count
        size = (t - before) * self._method.tableau.b.size / (count - counted)
        if not 0.0 < MANY * size < self._problem.h:
            return
        rate = self._rate(t)
        tolerance = max(self._method.rtol or 0.0, self._method.atol or 0.0)
        resolved = (tolerance / CONSTANT) ** 0.2
        if size * rate > max(BOUND, 2.0 * resolved):
            self.finding = (
                f"{self.BEGINS}: until t = {t:.6g} s the steps of RungeKuttaMuntheKaas were of "
                f"{size:.2g} s, as small as stability asks of explicit methods where the fastest "
                f"part of the system, a hard spring or a damper say, moves at a rate of {rate:.4g} "
                f"1/s. An implicit method takes larger ones: "
                f"integrator=mbkit.GeneralizedAlpha(rtol=1e-5)."
            )

    def _rate(self, t: float) -> float:
        q, v = self._problem.q.copy(), self._problem.v.copy()
        v = v if self._momenta is None else np.asarray(self._momenta.velocity(q, v))
        try:
            return fastest_rate(self._system, t, q, v, self._tau)
        except (MbkitError, np.linalg.LinAlgError):
            return 0.0  # no warning then
