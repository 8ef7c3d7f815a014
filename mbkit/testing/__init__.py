"""Tests for authors of bodies, joints, forces, constraints, integrators and other parts."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.testing.bodies import check_body as check_body
    from mbkit.testing.constraints import check_constraint as check_constraint
    from mbkit.testing.executors import check_executor as check_executor
    from mbkit.testing.forces import check_force as check_force
    from mbkit.testing.integrators import check_integrator as check_integrator
    from mbkit.testing.joints import check_joint as check_joint
    from mbkit.testing.plugins import Checked as Checked
    from mbkit.testing.plugins import check_plugin as check_plugin
    from mbkit.testing.report import Line as Line
    from mbkit.testing.report import Report as Report
    from mbkit.testing.representations import check_representation as check_representation

look_up_names(__name__)
