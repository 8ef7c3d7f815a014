"""Executors: where the tasks of a study run, in this process, in others, or on other machines.

How the samples of a batch are shared among threads stands in `mbkit.systems.calls.batches`.
"""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.executors.built_in import *
    from mbkit.executors.executor import Executor as Executor
    from mbkit.executors.executor import Outcome as Outcome
    from mbkit.executors.names import EXECUTORS as EXECUTORS

look_up_names(__name__)
