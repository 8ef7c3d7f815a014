"""Executors: where the tasks of a study run, in this process, in others, or on other machines."""

from mbkit.catalogue import by_name
from mbkit.executors import built_in
from mbkit.executors.built_in import *
from mbkit.executors.executor import Executor as Executor
from mbkit.executors.executor import Outcome as Outcome

#: The executors of mbkit, by the names that the command line has for them.
EXECUTORS: dict[str, type[Executor]] = by_name(built_in, Executor)
