"""Projects, studies in files, and the laboratory: comparisons, orders, costs."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.executors import DaskExecutor as DaskExecutor
    from mbkit.executors import Executor as Executor
    from mbkit.executors import Outcome as Outcome
    from mbkit.executors import ProcessesExecutor as ProcessesExecutor
    from mbkit.executors import SerialExecutor as SerialExecutor
    from mbkit.executors import ThreadsExecutor as ThreadsExecutor
    from mbkit.studies.laboratory import Findings as Findings
    from mbkit.studies.laboratory import Table as Table
    from mbkit.studies.laboratory import compare as compare
    from mbkit.studies.laboratory import convergence as convergence
    from mbkit.studies.laboratory import ensemble as ensemble
    from mbkit.studies.laboratory import load_findings as load_findings
    from mbkit.studies.laboratory import operations as operations
    from mbkit.studies.laboratory import scaling as scaling
    from mbkit.studies.laboratory import sensitivity as sensitivity
    from mbkit.studies.laboratory import sweep as sweep
    from mbkit.studies.laboratory import work_precision as work_precision
    from mbkit.studies.new_project import new_project as new_project
    from mbkit.studies.project import Project as Project
    from mbkit.studies.project import load_project as load_project
    from mbkit.studies.study import Study as Study
    from mbkit.studies.study_file import load_study as load_study

look_up_names(__name__)
