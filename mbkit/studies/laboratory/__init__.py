"""The laboratory: cost and accuracy of representations, coordinates and integrators."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.studies.laboratory.compare import compare as compare
    from mbkit.studies.laboratory.convergence import convergence as convergence
    from mbkit.studies.laboratory.convergence import work_precision as work_precision
    from mbkit.studies.laboratory.counting.operations import operations as operations
    from mbkit.studies.laboratory.findings.findings import Findings as Findings
    from mbkit.studies.laboratory.findings.saving import load_findings as load_findings
    from mbkit.studies.laboratory.findings.table import Table as Table
    from mbkit.studies.laboratory.from_study_file import findings_of as findings_of
    from mbkit.studies.laboratory.scaling import scaling as scaling
    from mbkit.studies.laboratory.sweep import sweep as sweep
    from mbkit.studies.laboratory.variation import ensemble as ensemble
    from mbkit.studies.laboratory.variation import sensitivity as sensitivity

look_up_names(__name__)
