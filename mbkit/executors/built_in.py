"""The executors that mbkit brings, by the names that follow from their classes: `mbkit.catalogue`.

A new one is its class, and its line here.
"""

# isort: off
from mbkit.executors.in_process import SerialExecutor as SerialExecutor
from mbkit.executors.in_process import ThreadsExecutor as ThreadsExecutor
from mbkit.executors.processes import ProcessesExecutor as ProcessesExecutor
from mbkit.executors.dask import DaskExecutor as DaskExecutor
