"""Rows of four-bar linkages in Exudyn, in a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.closed_loops import n_four_bar
from tests.peers.fast_exudyn import exudyn, items


class ExudynFourBars:
    """The row of `n_four_bar`, with three coordinates a rod and two rows a pin.

    Parameters
    ----------
    windows : int
        Linkages in the row.
    span : float
        How long it moves. [s]
    """

    def __init__(self, windows: int, span: float) -> None:
        self.span = span
        self._container = exudyn.SystemContainer()
        self._system = self._container.AddSystem()
        ground = self._system.AddObject(items.ObjectGround())
        length, rate = n_four_bar.LENGTH, n_four_bar.RATE
        half = length / 2
        self._rods = []
        bodies: list[Any] = []
        for i in range(windows + 1):
            x = i * length
            upright = (x, half, np.pi / 2), (half * rate, 0.0, -rate)
            node, body = self._add_body(*upright)
            self._rods.append(node)
            bodies.append(body)
            self._pin(ground, x, body, -half)
            if i > 0:
                _, bar = self._add_body((x - half, length, 0.0), (length * rate, 0.0, 0.0))
                self._pin(bodies[i - 1], half, bar, -half)
                self._pin(bar, half, body, half)
        self._system.Assemble()

    def _add_body(self, place: tuple[float, ...], velocity: tuple[float, ...]) -> tuple[Any, Any]:
        mass, length = n_four_bar.MASS, n_four_bar.LENGTH
        node = self._system.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=list(place), initialVelocities=list(velocity)
            )
        )
        body = self._system.AddObject(
            items.ObjectRigidBody2D(nodeNumber=node, mass=mass, inertia=mass * length**2 / 12)
        )
        centre = self._system.AddMarker(items.MarkerBodyPosition(bodyNumber=body))
        weight = [0.0, -mass * n_four_bar.GRAVITY, 0.0]
        self._system.AddLoad(items.LoadForceVector(markerNumber=centre, loadVector=weight))
        return node, body

    def _pin(self, first: Any, x_first: float, second: Any, x_second: float) -> None:
        """Join points on the x axes of two bodies."""
        markers = [
            self._system.AddMarker(
                items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0.0, 0.0])
            )
            for body, x in ((first, x_first), (second, x_second))
        ]
        self._system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))

    def angles(self, steps: int) -> Any:
        """Return the angles of the upright rods at the end, after so many steps from the start."""
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.endTime = self.span
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.generalizedAlpha.useIndex2Constraints = True
        settings.timeIntegration.generalizedAlpha.useNewmark = True
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = self.span
        self._system.SolveDynamic(settings)
        kind = exudyn.OutputVariableType.Coordinates
        return np.array([-self._system.GetNodeOutput(node, kind)[2] for node in self._rods])
