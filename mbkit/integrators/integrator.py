"""The contract of an integrator, and the problem it is given."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import attrs

__all__ = ["Advance", "Integrator", "Problem", "Rows"]


class Rows(NamedTuple):
    """Where saved states go: t (k,), q (k, nq), v (k, nv), work (k, 2)."""

    t: Any
    q: Any
    v: Any
    work: Any


#: Take `steps` steps from step `first` on, write the saved ones to the rows; return the kernel's
#: status, the number of steps taken and the number of rows written.
Advance = Callable[[int, int, Rows], tuple[int, int, int]]


@attrs.frozen(eq=False)
class Problem:
    """An initial value problem on the configuration group of a system.

    Attributes
    ----------
    space : int
        Address of a workspace whose record has the forward dynamics and the forces.
    nq, nv : int
        Sizes.
    t0, h : float
        Start and step: step k ends at ``t0 + (k + 1) h``. [s]
    q, v : ndarray, shape (nq,), (nv,)
        The state; an integrator advances it in place.
    work : ndarray, shape (2,)
        Energy dissipated and supplied by forces since the start, integrated with the scheme's own
        weights; part of the state. [J]
    q_stage, v_stage : ndarray, shape (nq,), (nv,)
        Where an integrator leaves the state at which it last evaluated the equations of motion.
    save_every : int
        Steps between saved states.
    """

    space: int
    nq: int
    nv: int
    t0: float
    h: float
    q: Any
    v: Any
    work: Any
    q_stage: Any
    v_stage: Any
    save_every: int

    @property
    def state(self) -> dict[str, Any]:
        """The arrays, by name, from which the steps go on: an integrator has no other memory."""
        return {"q": self.q, "v": self.v, "work": self.work}


class Integrator(abc.ABC):
    """A method that advances a state on its group by steps of fixed size.

    1. `order` is the order of convergence in q and v.
    2. `prepare` allocates all memory that the steps need and returns the function that takes them.
    3. That function, called with consecutive numbers of steps, gives the same states to the last
       bit, however the steps are cut into calls. After a failure the problem's state is that of
       the last complete step. It goes on from the problem's `state`, whoever wrote it there, and
       remembers nothing else of earlier steps.
    """

    order: int

    @abc.abstractmethod
    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem.

        Parameters
        ----------
        problem : Problem
            What to integrate.

        Returns
        -------
        callable
            ``advance(first, steps, rows) -> (status, steps taken, rows written)``.
        """
