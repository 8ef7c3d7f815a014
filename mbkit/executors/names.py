"""The executors of mbkit by name; to import this table imports all of them."""

from mbkit.catalogue import by_name
from mbkit.executors import built_in
from mbkit.executors.executor import Executor

#: The executors of mbkit, by the names that the command line has for them.
EXECUTORS: dict[str, type[Executor]] = by_name(built_in, Executor)
