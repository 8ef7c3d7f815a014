"""mbkit: rigid multibody systems on screw and Lie group theory.

A table of contents: each name is imported at its first use (`mbkit.lazy_names`), so that a start
loads only what it uses. Classes that belong to a family, such as joints, are public by the list of
their family: see `mbkit.catalogue`.
"""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from mbkit import conventions as conventions
    from mbkit import testing as testing
    from mbkit import viz as viz
    from mbkit.bridges import SymbolicSystem as SymbolicSystem
    from mbkit.bridges.casadi_function import casadi_function as casadi_function
    from mbkit.bridges.jax_function import jax_function as jax_function
    from mbkit.bridges.symbolic import symbolic as symbolic
    from mbkit.constraints import Constraint as Constraint
    from mbkit.constraints.built_in import *
    from mbkit.coordinates import AbsoluteCoordinates as AbsoluteCoordinates
    from mbkit.coordinates import BodyCut as BodyCut
    from mbkit.coordinates import RelativeCoordinates as RelativeCoordinates
    from mbkit.diagnosis import Diagnosis as Diagnosis
    from mbkit.errors import ConfigurationError as ConfigurationError
    from mbkit.errors import ConstraintDerivativeWarning as ConstraintDerivativeWarning
    from mbkit.errors import ConstraintError as ConstraintError
    from mbkit.errors import ContractError as ContractError
    from mbkit.errors import ConvergenceError as ConvergenceError
    from mbkit.errors import DegreesWarning as DegreesWarning
    from mbkit.errors import DistanceWarning as DistanceWarning
    from mbkit.errors import DuplicateNameError as DuplicateNameError
    from mbkit.errors import EnergyBalanceWarning as EnergyBalanceWarning
    from mbkit.errors import EventError as EventError
    from mbkit.errors import FailedRunsWarning as FailedRunsWarning
    from mbkit.errors import ForceDerivativeWarning as ForceDerivativeWarning
    from mbkit.errors import ForceError as ForceError
    from mbkit.errors import GeometryError as GeometryError
    from mbkit.errors import InertiaError as InertiaError
    from mbkit.errors import IntegratorError as IntegratorError
    from mbkit.errors import JointDerivativeWarning as JointDerivativeWarning
    from mbkit.errors import JointError as JointError
    from mbkit.errors import JumpWarning as JumpWarning
    from mbkit.errors import LargeStepWarning as LargeStepWarning
    from mbkit.errors import LimitsNotAppliedWarning as LimitsNotAppliedWarning
    from mbkit.errors import LockedMechanismWarning as LockedMechanismWarning
    from mbkit.errors import MbkitError as MbkitError
    from mbkit.errors import MissingTimeWarning as MissingTimeWarning
    from mbkit.errors import ModelError as ModelError
    from mbkit.errors import ModelFileError as ModelFileError
    from mbkit.errors import ModelFileWarning as ModelFileWarning
    from mbkit.errors import NameUnknownError as NameUnknownError
    from mbkit.errors import NoEquilibriumWarning as NoEquilibriumWarning
    from mbkit.errors import NotFiniteError as NotFiniteError
    from mbkit.errors import ParameterError as ParameterError
    from mbkit.errors import PluginWarning as PluginWarning
    from mbkit.errors import PoorFitWarning as PoorFitWarning
    from mbkit.errors import QuantityError as QuantityError
    from mbkit.errors import RedundantConstraintsWarning as RedundantConstraintsWarning
    from mbkit.errors import ResultFileError as ResultFileError
    from mbkit.errors import ResultFileWarning as ResultFileWarning
    from mbkit.errors import ShapeError as ShapeError
    from mbkit.errors import SingularityWarning as SingularityWarning
    from mbkit.errors import SingularMassMatrixError as SingularMassMatrixError
    from mbkit.errors import StartDerivativeWarning as StartDerivativeWarning
    from mbkit.errors import StiffnessWarning as StiffnessWarning
    from mbkit.errors import StudyFileError as StudyFileError
    from mbkit.errors import TopologyError as TopologyError
    from mbkit.errors import UsageError as UsageError
    from mbkit.events import Event as Event
    from mbkit.events import Impact as Impact
    from mbkit.events import JointPosition as JointPosition
    from mbkit.events import JointVelocity as JointVelocity
    from mbkit.events import PlaneDistance as PlaneDistance
    from mbkit.events import Quantity as Quantity
    from mbkit.events import Reset as Reset
    from mbkit.forces import Force as Force
    from mbkit.forces import ForceDerivatives as ForceDerivatives
    from mbkit.forces import ForceFunction as ForceFunction
    from mbkit.forces.built_in import *
    from mbkit.identification import Identification as Identification
    from mbkit.identification.calibrate import calibrate as calibrate
    from mbkit.identification.identify import identify as identify
    from mbkit.integrators import COMMUTATOR_FREE3 as COMMUTATOR_FREE3
    from mbkit.integrators import COMMUTATOR_FREE4 as COMMUTATOR_FREE4
    from mbkit.integrators import Integrator as Integrator
    from mbkit.integrators import tableaus as tableaus
    from mbkit.integrators.built_in import *
    from mbkit.io import Mjcf as Mjcf
    from mbkit.io import Sdf as Sdf
    from mbkit.io import Urdf as Urdf
    from mbkit.io import load_ensemble as load_ensemble
    from mbkit.io import load_mjcf as load_mjcf
    from mbkit.io import load_model as load_model
    from mbkit.io import load_result as load_result
    from mbkit.io import load_sdf as load_sdf
    from mbkit.io import load_urdf as load_urdf
    from mbkit.io import parse_model as parse_model
    from mbkit.io import parse_sdf as parse_sdf
    from mbkit.io import parse_urdf as parse_urdf
    from mbkit.io import read_mjcf as read_mjcf
    from mbkit.io import read_sdf as read_sdf
    from mbkit.io import read_urdf as read_urdf
    from mbkit.io import save_mjcf as save_mjcf
    from mbkit.io import save_model as save_model
    from mbkit.io import save_urdf as save_urdf
    from mbkit.joints import Joint as Joint
    from mbkit.joints import JointKernels as JointKernels
    from mbkit.joints import joint_kernel as joint_kernel
    from mbkit.joints.built_in import *
    from mbkit.kinematics import InverseKinematics as InverseKinematics
    from mbkit.kinematics import Manipulability as Manipulability
    from mbkit.kinematics import PoseTarget as PoseTarget
    from mbkit.kinematics import RatesFit as RatesFit
    from mbkit.kinematics import TwistForm as TwistForm
    from mbkit.kinematics import accelerations_from_twist_rates as accelerations_from_twist_rates
    from mbkit.kinematics import fit_accelerations as fit_accelerations
    from mbkit.kinematics import fit_derivatives as fit_derivatives
    from mbkit.kinematics import fit_jerks as fit_jerks
    from mbkit.kinematics import fit_rates as fit_rates
    from mbkit.kinematics import inverse_kinematics as inverse_kinematics
    from mbkit.kinematics import manipulability as manipulability
    from mbkit.kinematics import rates_from_twists as rates_from_twists
    from mbkit.linear_models import Equilibrium as Equilibrium
    from mbkit.linear_models import LinearModel as LinearModel
    from mbkit.linear_models import Modes as Modes
    from mbkit.memory import NoMemoryError as NoMemoryError
    from mbkit.model import Body as Body
    from mbkit.model import DenavitHartenbergRow as DenavitHartenbergRow
    from mbkit.model import JointFriction as JointFriction
    from mbkit.model import JointLimits as JointLimits
    from mbkit.model import Mechanism as Mechanism
    from mbkit.parts.built_in import *
    from mbkit.representations import Representation as Representation
    from mbkit.representations import convert_acceleration as convert_acceleration
    from mbkit.representations import convert_jacobian as convert_jacobian
    from mbkit.representations import convert_jerk as convert_jerk
    from mbkit.representations import convert_twist as convert_twist
    from mbkit.representations import convert_wrench as convert_wrench
    from mbkit.representations.built_in import *
    from mbkit.results import Ensemble as Ensemble
    from mbkit.results import EventLog as EventLog
    from mbkit.results import Result as Result
    from mbkit.sensitivities import Gradient as Gradient
    from mbkit.sensitivities import Sensitivities as Sensitivities
    from mbkit.sensitivities import gradient as gradient
    from mbkit.sensitivities import sensitivities as sensitivities
    from mbkit.shapes import BoxShape as BoxShape
    from mbkit.shapes import CapsuleShape as CapsuleShape
    from mbkit.shapes import CylinderShape as CylinderShape
    from mbkit.shapes import EllipsoidShape as EllipsoidShape
    from mbkit.shapes import MeshShape as MeshShape
    from mbkit.shapes import Shape as Shape
    from mbkit.shapes import SphereShape as SphereShape
    from mbkit.simulation import Baumgarte as Baumgarte
    from mbkit.simulation import PiecewiseEfforts as PiecewiseEfforts
    from mbkit.simulation import Projection as Projection
    from mbkit.simulation import Sampled as Sampled
    from mbkit.simulation import export_fmu as export_fmu
    from mbkit.simulation import resume as resume
    from mbkit.simulation import simulate as simulate
    from mbkit.solvers import ConstraintSolver as ConstraintSolver
    from mbkit.solvers import DenseSolver as DenseSolver
    from mbkit.solvers.built_in import *
    from mbkit.spatial import Acceleration as Acceleration
    from mbkit.spatial import Screw as Screw
    from mbkit.spatial import SpatialInertia as SpatialInertia
    from mbkit.spatial import Twist as Twist
    from mbkit.spatial import Wrench as Wrench
    from mbkit.spatial import inertia_matrix as inertia_matrix
    from mbkit.spatial import newton_euler as newton_euler
    from mbkit.spatial import newton_euler_bias as newton_euler_bias
    from mbkit.spatial import newton_euler_in_frames as newton_euler_in_frames
    from mbkit.spatial import reciprocal_product as reciprocal_product
    from mbkit.studies import Project as Project
    from mbkit.studies import Study as Study
    from mbkit.studies import load_project as load_project
    from mbkit.studies import load_study as load_study
    from mbkit.systems import BaseParameters as BaseParameters
    from mbkit.systems import Derivatives as Derivatives
    from mbkit.systems import EquationsOfMotion as EquationsOfMotion
    from mbkit.systems import JacobianRates as JacobianRates
    from mbkit.systems import MassFactor as MassFactor
    from mbkit.systems import MomentumForm as MomentumForm
    from mbkit.systems import NearSingularity as NearSingularity
    from mbkit.systems import NewtonEulerEquations as NewtonEulerEquations
    from mbkit.systems import System as System
    from mbkit.systems import SystemJacobian as SystemJacobian
    from mbkit.systems import binet_christoffel as binet_christoffel
    from mbkit.systems import near_singularity as near_singularity
    from mbkit.topology import BodyPath as BodyPath
    from mbkit.topology import Topology as Topology
    from mbkit.viz.plotting import plot as plot

look_up_names(__name__)
