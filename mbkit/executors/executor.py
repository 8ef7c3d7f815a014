"""`Executor`: the contract of classes that run the tasks of a study."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, final

import attrs

from mbkit.given_values import whole_number
from mbkit.systems.calls.threads import cores

__all__ = ["Executor", "Outcome", "check_workers", "number_of_workers"]


@final
@attrs.frozen
class Outcome:
    """The outcome of one task.

    Attributes
    ----------
    index : int
        Index of the task.
    value : object
        The value that the function returned; None where it did not.
    reason : str
        Why there is no value, such as "its process ended with code 3"; empty where there is one.
    """

    index: int
    value: Any
    reason: str = ""


class Executor(abc.ABC):
    """Runs the tasks of a study: one after the other, side by side, or on other machines.

    A subclass has `run`. An attrs class is made with the fields that the command line gives:
    ``workers``, and ``scheduler``, as far as it has them.

    Attributes
    ----------
    side_by_side : bool
        Whether several tasks run at the same time; times measured in them mean little then.
    ends_tasks : bool
        Whether a task that takes longer than its limit is ended.

    Examples
    --------
    >>> import mbkit as mb
    >>> class Backwards(mb.studies.Executor):
    ...     side_by_side = False
    ...
    ...     def run(self, function, tasks, *, time_limit=None):
    ...         for index in reversed(range(len(tasks))):
    ...             yield mb.studies.Outcome(index, function(tasks[index]))
    >>> list(Backwards().run(abs, [-1, -2]))
    [Outcome(index=1, value=2, reason=''), Outcome(index=0, value=1, reason='')]
    """

    side_by_side: ClassVar[bool] = True
    ends_tasks: ClassVar[bool] = False

    @abc.abstractmethod
    def run(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        *,
        time_limit: float | None = None,
    ) -> Iterator[Outcome]:
        """Call a function for each of the tasks, and yield their outcomes, in any order.

        Parameters
        ----------
        function : callable
            ``function(task)``. It and the tasks can be pickled, by cloudpickle at least.
        tasks : sequence
            Its arguments.
        time_limit : float, optional
            Of one task. [s] It is given where `ends_tasks` is true.

        Yields
        ------
        Outcome
            One for each task, as soon as it is there. A task that ends its process, or does not end
            in time, has a reason, and stops no other.
        """


def check_workers(_executor: object, _field: object, workers: Any) -> None:
    """Raise UsageError unless a number of workers is one, or None: a validator of attrs."""
    if workers is not None:
        whole_number("workers", workers, 1)


def number_of_workers(workers: int | None) -> int:
    """Return a number of workers: as many as there are processors where none is given."""
    return workers or cores()
