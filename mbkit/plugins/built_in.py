"""What comes with mbkit, registered as any plugin registers what it has.

File readers and commands stand above this package, in `mbkit.io.readers` and `mbkit.cli.commands`.
"""

from __future__ import annotations

from collections.abc import Mapping

from mbkit.forces import Force
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.joints import Joint
from mbkit.model.force_types import FORCE_TYPES
from mbkit.model.joint_types import JOINT_TYPES
from mbkit.plugins.hookspecs import hookimpl
from mbkit.representations import REPRESENTATIONS, Representation


@hookimpl
def mbkit_joint_types() -> Mapping[str, type[Joint]]:
    """Return the joints of mbkit."""
    return JOINT_TYPES


@hookimpl
def mbkit_force_types() -> Mapping[str, type[Force]]:
    """Return the forces of mbkit."""
    return FORCE_TYPES


@hookimpl
def mbkit_integrators() -> Mapping[str, type[Integrator]]:
    """Return the integrators of mbkit."""
    return {"runge_kutta_munthe_kaas": RungeKuttaMuntheKaas}


@hookimpl
def mbkit_representations() -> Mapping[str, Representation]:
    """Return the representations of mbkit."""
    return REPRESENTATIONS
