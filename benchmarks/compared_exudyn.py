"""The compared models in Exudyn: bodies on Lie groups, with all joints as constraints."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from benchmarks.compared_models import Hinge, Model, Part
from tests.peers.fast_exudyn import exudyn, items


@attrs.frozen
class Method:
    """Settings of Exudyn's implicit solver for second order equations.

    Attributes
    ----------
    name : str
        For tables and plots.
    index_2 : bool
        The trapezoidal rule with constraints of velocities instead of the generalized-alpha method
        with constraints of positions.
    original : bool
        The kinematic relations of Bruels and Cardona 2010 instead of Exudyn's newer ones, which it
        calls more accurate.
    each_step : bool
        Newton's matrix is made at each step, not only where the iteration becomes slow.
    sparse : bool
        The sparse solver, for many bodies.
    radius : float
        Spectral radius at infinity.
    """

    name: str
    index_2: bool = False
    original: bool = False
    each_step: bool = False
    sparse: bool = False
    radius: float = 0.9


#: The methods, each in the ways it may be fast.
METHODS = tuple(
    Method(f"{name}{', sparse' if sparse else ''}", sparse=sparse, each_step=True, **settings)
    for name, settings in {
        "generalized-alpha": {},
        "generalized-alpha of 2010": {"original": True},
        "trapezoidal rule, index 2": {"index_2": True},
    }.items()
    for sparse in (False, True)
)


class ExudynModel:
    """A model in Exudyn.

    Nothing is written to files, nothing is printed, one thread; the solver is that in C++, compiled
    without range checks.

    Parameters
    ----------
    model : Model
        What is built.
    """

    def __init__(self, model: Model) -> None:
        self.span = model.span
        self._container = exudyn.SystemContainer()
        self._system = self._container.AddSystem()
        ground = self._system.AddObject(items.ObjectGround())
        self._bodies: dict[str, Any] = {"world": ground}
        self._centres = {"world": np.zeros(3)}
        self._nodes = []
        for part in model.parts:
            self._add(part, model.gravity)
        for hinge in model.hinges:
            self._join(hinge)
        self._system.Assemble()

    def _add(self, part: Part, gravity: tuple[float, float, float]) -> None:
        node = self._system.AddNode(
            items.NodeRigidBodyRotVecLG(
                referenceCoordinates=[*map(float, part.com), 0.0, 0.0, 0.0],
                initialVelocities=[*map(float, part.rate), *map(float, part.spin)],
            )
        )
        J = part.moment
        moments = [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))]
        body = self._system.AddObject(
            items.ObjectRigidBody(nodeNumber=node, mass=part.mass, inertia=moments)
        )
        whole = self._system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        load = items.LoadMassProportional(markerNumber=whole, loadVector=list(gravity))
        self._system.AddLoad(load)
        self._nodes.append(node)
        self._bodies[part.name] = body
        self._centres[part.name] = np.asarray(part.com)

    def _join(self, hinge: Hinge) -> None:
        R = np.eye(3)
        if hinge.axis is not None:  # z of the joint; bodies have the axes of the world at the start
            aside = np.linalg.svd(hinge.axis[None, :])[2][1]
            R = np.column_stack([aside, np.cross(hinge.axis, aside), hinge.axis])
        markers = [
            self._system.AddMarker(
                items.MarkerBodyRigid(
                    bodyNumber=self._bodies[name],
                    localHT=exudyn.HT(rotation=R, translation=hinge.point - self._centres[name]),
                )
            )
            for name in (hinge.predecessor, hinge.successor)
        ]
        ball = hinge.axis is None
        joint = items.ObjectJointSpherical if ball else items.ObjectJointRevoluteZ
        self._system.AddObject(joint(markerNumbers=markers))

    def run(self, method: Method, steps: int) -> tuple[Any, float]:
        """Return the centres of mass at the end, and how long the solver worked [s].

        Raises
        ------
        ArithmeticError
            If Newton's iteration did not converge.
        """
        settings = exudyn.SimulationSettings()
        time = settings.timeIntegration
        time.endTime, time.numberOfSteps, time.verboseMode = self.span, steps, 0
        time.newton.useModifiedNewton = True
        time.newton.modifiedNewtonJacUpdatePerStep = method.each_step
        alpha = time.generalizedAlpha
        alpha.useIndex2Constraints = alpha.useNewmark = method.index_2
        alpha.spectralRadius = method.radius
        alpha.lieGroupSimplifiedKinematicRelations = method.original
        alpha.computeInitialAccelerations = True
        kinds = exudyn.LinearSolverType
        settings.linearSolver.solverType = kinds.EigenSparse if method.sparse else kinds.EigenDense
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = self.span
        settings.parallel.numberOfThreads = 1
        try:
            self._system.SolveDynamic(settings)
        except Exception as error:  # Exudyn has none of its own
            raise ArithmeticError(f"Exudyn with {steps} steps: {error}") from error
        kind = exudyn.OutputVariableType.Position
        found = np.array([self._system.GetNodeOutput(node, kind) for node in self._nodes])
        return found, float(self._system.sys["dynamicSolver"].timer.total)
