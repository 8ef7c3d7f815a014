"""The contract of an integrator, and the problem it is given."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from mbkit.errors import IntegratorError
from mbkit.final import FinalBuiltIns
from mbkit.integrators.checks import check_fit, check_memory, refused
from mbkit.integrators.newton_record import Newton

if TYPE_CHECKING:
    from mbkit.systems.equations_of_motion import EquationsOfMotion

__all__ = ["FAILED", "Advance", "Integrator", "Problem", "Rows"]

#: The status of arguments of the wrong length, as `mbkit.kernels.status` has it.
WRONG_LENGTH = 1

#: Entries of `Problem.counts`, as `mbkit.kernels.explicit_integrators.step_size` has them.
EVALUATIONS, REJECTIONS = 0, 1

#: The status of a step in which code in Python has raised an exception.
FAILED = -3


class Rows(NamedTuple):
    """Where saved states go: t (k,), q (k, nq), v (k, nv), work (k, 2), multipliers (k, m).

    The multipliers have m = 0 columns unless the integrator gives them.
    """

    t: Any
    q: Any
    v: Any
    work: Any
    multipliers: Any

    @classmethod
    def empty(cls, count: int, nq: int, nv: int, m: int) -> Rows:
        """Return memory for `count` rows."""
        return cls(*(np.empty((count, *size)) for size in ((), (nq,), (nv,), (2,), (m,))))


#: Take `steps` steps from step `first` on, write the saved ones to the rows; return the kernel's
#: status, the number of steps taken and the number of rows written.
Advance = Callable[[int, int, Rows], tuple[int, int, int]]


def _keep(problem: Problem, attribute: attrs.Attribute[Any], value: Any) -> Any:
    """Refuse another size: steps rely on it."""
    if value is not getattr(problem, attribute.name):
        raise IntegratorError(
            f"Problem: '{attribute.name}' cannot be changed, got {value!r}; another problem is "
            f"made by attrs.evolve(problem, {attribute.name}=...)."
        )
    return value


def _fit(problem: Problem, attribute: attrs.Attribute[Any], value: Any) -> Any:
    """Refuse an array of another shape; take its numbers over, since steps have an address."""
    own = getattr(problem, attribute.name)
    check_fit(attribute.name, value, own.shape)
    own[:] = value
    return own


@attrs.define(eq=False)
class Problem:
    """An initial value problem on the configuration group of a system.

    Attributes
    ----------
    space : int
        Address of a workspace whose record has the forward dynamics and the forces.
    nq, nv, ndx, num_rows : int
        Sizes: of q, of v, of steps on the group (nv but for nonholonomic joints), and how many rows
        the model has, the world's included.
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
    equations : EquationsOfMotion
        All functions of the system: forces, derivatives, constraints.
    tau : callable
        ``tau(t, q, v)`` (nv,): the generalized forces of this run, which `accelerate` adds, and
        which `equations` do not contain.
    multipliers : ndarray, shape (m,)
        Where an integrator that gives multipliers leaves those of the end of a step; m = 0 if it
        gives none. Those that are not a number are found from the state afterwards.
    memory : dict of str to ndarray
        Values that an integrator keeps from step to step besides q, v and work;
        `Integrator.prepare` puts them in, with their values at a start.
    interpolate : callable or None
        ``interpolate(t, q, v, work) -> status`` writes the state at a time in the last step that
        was taken; set by an integrator with dense output.
    newton : Newton or None
        How the equations of the last step were solved; set by an implicit integrator.
    provide : callable
        ``provide("inverse_dynamics")`` or ``provide("mass_matrix")``, called in `prepare`, puts the
        address of that function into the `SPACE` record, for compiled steps that call it; it is
        compiled for those alone.
    blocks : callable or None
        ``blocks(stabilised)`` returns the blocks of the matrix of an implicit integrator, with
        constraints at both levels or not; None where a dense matrix is as good.
    momenta : bool
        Whether v stands for the momenta of a `MomentumForm`: `accelerate` gives their rates, and
        `rates` those of a step, which are not v.
    error : BaseException or None
        The exception that a step in Python has raised: see `failed`.
    counts : ndarray, shape (2,)
        Evaluations of the equations of motion, and steps that were rejected: `accelerate` counts,
        and so do compiled steps.
    """

    space: int = attrs.field(on_setattr=_keep)
    nq: int = attrs.field(on_setattr=_keep)
    nv: int = attrs.field(on_setattr=_keep)
    ndx: int = attrs.field(on_setattr=_keep)
    num_rows: int = attrs.field(on_setattr=_keep)
    t0: float
    h: float
    q: Any = attrs.field(on_setattr=_fit)
    v: Any = attrs.field(on_setattr=_fit)
    work: Any = attrs.field(on_setattr=_fit)
    q_stage: Any = attrs.field(on_setattr=_fit)
    v_stage: Any = attrs.field(on_setattr=_fit)
    save_every: int = attrs.field(on_setattr=_keep)
    equations: EquationsOfMotion
    tau: Callable[[float, Any, Any], Any]
    multipliers: Any = attrs.field(on_setattr=_fit)
    provide: Callable[[str], None]
    memory: dict[str, Any] = attrs.field(factory=dict)
    interpolate: Callable[[float, Any, Any, Any], int] | None = None
    newton: Newton | None = None
    blocks: Callable[[bool], Any] | None = None
    momenta: bool = False
    error: BaseException | None = None
    counts: Any = attrs.field(factory=lambda: np.zeros(2))

    def __attrs_post_init__(self) -> None:
        check_memory(self)

    def accelerate(
        self, t: float, q: Any, v: Any, vdot: Any, powers: Any, *, stage: int | None = None
    ) -> int:
        """Evaluate the equations of motion; return a status, 0 where all is well.

        Writes ``vdot`` (nv,), and dissipated and supplied power to ``powers`` (2,), [W], and the
        entries of prescribed joints in q and v.

        stage: 0 where a step begins, with closed loops, and more at the stages after it. Which of
        the constraint rows are independent is then decided once a step, at its beginning: within
        a step loops are a little open, and accelerations that satisfy one set of rows here and
        another there cost the method its order where rows depend on others. None: on its own.
        """
        from mbkit.kernels.calls.integration_problem import accelerate, accelerate_stage

        self.counts[EVALUATIONS] += 1.0
        arrays = {"q": q, "v": v, "vdot": vdot, "powers": powers}
        if stage is None:
            return self._ask("accelerate", accelerate, {"t": t, **arrays})
        return self._ask("accelerate", accelerate_stage, {"stage": stage, "t": t, **arrays})

    def retract(self, q: Any, x: Any, out: Any) -> int:
        """Write the configuration (nq,) that the step x (ndx,) leads to; return a status."""
        from mbkit.kernels.calls.integration_steps import move

        return self._ask("retract", move, {"q": q, "x": x, "out": out})

    def rates(self, q: Any, v: Any, out: Any) -> int:
        """Write the rates (ndx,) at which a step leaves q with velocity v; return a status.

        They are v but for nonholonomic joints, which have fewer velocities than steps.
        """
        from mbkit.kernels.calls.integration_steps import rates

        return self._ask("rates", rates, {"q": q, "v": v, "out": out})

    def dexp_inv(self, x: Any, w: Any, out: Any) -> int:
        """Write the rate (ndx,) of x while ``retract(q, x)`` moves with the rates w.

        w are the `rates` there. The result is w where the joints' coordinates are a vector
        space. Returns a status.
        """
        from mbkit.kernels.calls.integration_steps import rate

        return self._ask("dexp_inv", rate, {"x": x, "w": w, "out": out})

    def close(self, t: float, q: Any, v: Any) -> int:
        """Bring q and v back to the constraints, in place, at the end of a step; return a status.

        Nothing is done for a tree.
        """
        from mbkit.kernels.calls.integration_problem import close_at

        return self._ask("close", close_at, {"t": t, "q": q, "v": v})

    def look(self, t: float, q: Any, v: Any) -> int:
        """Return 0 where a step may end at (t, q, v), and not where an event lies in it.

        Writes q and v of prescribed joints, those of t. To be called before a step is accepted;
        ``advance`` returns its status if it is not 0.
        """
        from mbkit.kernels.calls.integration_problem import look_at

        return self._ask("look", look_at, {"t": t, "q": q, "v": v})

    def _ask(self, door: str, kernel: Callable[..., int], given: dict[str, Any]) -> int:
        """Call a kernel of `kernels.calls`, behind a method; ShapeError for wrong arrays."""
        from mbkit.kernels.compiling.refusals import REFUSALS

        try:
            state = kernel(self.space, *given.values())
        except REFUSALS:
            state = WRONG_LENGTH
        if state == WRONG_LENGTH:
            out = {"retract": self.nq}.get(door, self.ndx)
            sizes = {"q": self.nq, "v": self.nv, "vdot": self.nv, "powers": 2, "out": out}
            sizes |= {"x": self.ndx, "w": self.ndx}
            raise refused(door, {name: (sizes[name],) for name in sizes if name in given}, given)
        return int(state)

    def failed(self, error: BaseException) -> int:
        """Return the status of a step in which an exception was raised, which ends the run.

        For steps in Python: the rows before are kept, beside the exception.
        """
        self.error = error
        return FAILED

    def counted(self) -> dict[str, int]:
        """Return the counts of operations since the start; unknown ones are left out.

        ``evaluations`` of the equations of motion, with those of the iterations of an implicit
        method, ``rejected_steps``, and of Newton's method ``newton_iterations`` and
        ``factorisations`` of its matrix.
        """
        evaluations, rejected = (int(count) for count in self.counts)
        newton = {}
        if self.newton is not None:
            iterations, factorisations = self.newton.total.tolist()
            newton = {"newton_iterations": iterations, "factorisations": factorisations}
            evaluations += iterations
        known = {"evaluations": evaluations} if evaluations else {}
        return known | {"rejected_steps": rejected} | newton

    @property
    def state(self) -> dict[str, Any]:
        """The arrays, by name, from which the steps go on: an integrator has no other memory."""
        return {"q": self.q, "v": self.v, "work": self.work, **self.memory}


class Integrator(FinalBuiltIns, abc.ABC):
    """A method that advances a state on its group by steps of fixed size.

    1. `order` is the order of convergence in q and v.
    2. `prepare` allocates all memory that the steps need and returns the function that takes them.
    3. That function, called with consecutive numbers of steps, gives the same states to the last
       bit, for any division of the steps into calls. After a failure the problem's state is that of
       the last complete step. It goes on from the problem's `state`, which others may have written,
       and keeps nothing else of earlier steps. Values that it has to keep `prepare` puts into
       `Problem.memory`, as arrays of float64 that belong to a start.
    4. With `looks`, it calls `Problem.look` before it accepts a step, and returns the status if it
       is not 0; it is then run many steps at once in runs with events. Others are run step by step
       there, and need not consider events.
    5. Joints whose motion is a function of time are written by `Problem.accelerate` and by
       `Problem.look`. An integrator with other equations sets `takes_prescribed_joints` to False,
       and is not used with such joints.
    6. With `takes_constraints` it can advance closed mechanisms: it takes its accelerations from
       `Problem.accelerate`, and before it accepts a step calls `Problem.close`, which projects the
       end on the constraints. With `keeps_constraints` it solves them together with the equations
       of motion, through `Problem.equations`, and need not do so. Others are refused.
    7. With `gives_multipliers` it writes them to `Problem.multipliers` and to the rows that it
       saves; else those of a result are found from its states.
    8. `takes_nonholonomic_joints` and `takes_forces_of_velocity` are False if it cannot integrate
       rolling joints, or forces that depend on velocities.
    9. Its states lie on the group: quaternions have length one, to rounding. `stays_on_group` is
       False if quaternions drift from that, by no more than its order.
    10. `adaptive` is True if it adapts its step to a tolerance, within the steps of `simulate`: its
         errors do not fall with h.
    11. `takes_momenta` is True if it takes rates of steps from `Problem.rates` alone, never for v
        itself, and accelerations from `Problem.accelerate` alone: in place of v it can then
        advance the momenta of a `MomentumForm`.
    12. Its steps are in local coordinates of the joints. `local_steps` is False if it takes
        positions as a vector: there is then no warning of steps that turn too far for these.

    `mbkit.testing.check_integrator` measures the order, and checks all these rules. In Python a
    method calls functions of the problem: `Problem.accelerate`, `Problem.retract`,
    `Problem.rates`, `Problem.dexp_inv`; a compiled one uses the helpers of ``mbkit.kernels`` behind
    them.
    """

    order: int
    looks: bool = False
    takes_prescribed_joints: bool = True
    takes_constraints: bool = False
    keeps_constraints: bool = False
    gives_multipliers: bool = False
    takes_nonholonomic_joints: bool = True
    takes_forces_of_velocity: bool = True
    stays_on_group: bool = True
    adaptive: bool = False
    local_steps: bool = True
    takes_momenta: bool = False

    @abc.abstractmethod
    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem.

        Parameters
        ----------
        problem : Problem
            The problem to integrate.

        Returns
        -------
        callable
            ``advance(first, steps, rows) -> (status, steps taken, rows written)``.
        """

    def for_parts(self) -> Integrator:
        """Return the integrator for parts of a step, up to events and output times within it.

        They begin at the state where the step begins, without a memory, and have any size. This
        method itself, unless another of its order bears small ones better.
        """
        return self
