"""mbkit: rigid multibody systems on screw and Lie group theory."""

# Models: bodies, joints, mechanisms
# Systems: coordinates, representations, equations of motion
from mbkit.coordinates import RelativeCoordinates as RelativeCoordinates

# Errors
from mbkit.errors import ConfigurationError as ConfigurationError
from mbkit.errors import DuplicateNameError as DuplicateNameError
from mbkit.errors import GeometryError as GeometryError
from mbkit.errors import InertiaError as InertiaError
from mbkit.errors import JointError as JointError
from mbkit.errors import MbkitError as MbkitError
from mbkit.errors import ModelError as ModelError
from mbkit.errors import ModelFileError as ModelFileError
from mbkit.errors import ModelFileWarning as ModelFileWarning
from mbkit.errors import NameUnknownError as NameUnknownError
from mbkit.errors import NotFiniteError as NotFiniteError
from mbkit.errors import ResultFileError as ResultFileError
from mbkit.errors import ShapeError as ShapeError
from mbkit.errors import SingularMassMatrixError as SingularMassMatrixError
from mbkit.errors import TopologyError as TopologyError
from mbkit.errors import UsageError as UsageError

# Simulation: integrators, runs, results
from mbkit.integrators import Integrator as Integrator
from mbkit.integrators import RungeKuttaMuntheKaas as RungeKuttaMuntheKaas
from mbkit.integrators import Tableau as Tableau
from mbkit.integrators import tableaus as tableaus

# Files
from mbkit.io import Urdf as Urdf
from mbkit.io import load_model as load_model
from mbkit.io import load_result as load_result
from mbkit.io import load_urdf as load_urdf
from mbkit.io import parse_model as parse_model
from mbkit.io import parse_urdf as parse_urdf
from mbkit.io import read_urdf as read_urdf
from mbkit.io import save_model as save_model
from mbkit.io import save_urdf as save_urdf
from mbkit.joints import FixedJoint as FixedJoint
from mbkit.joints import FreeJoint as FreeJoint
from mbkit.joints import HelicalJoint as HelicalJoint
from mbkit.joints import Joint as Joint
from mbkit.joints import PrismaticJoint as PrismaticJoint
from mbkit.joints import RevoluteJoint as RevoluteJoint
from mbkit.joints import ScrewJoint as ScrewJoint
from mbkit.joints import SphericalJoint as SphericalJoint
from mbkit.model import Body as Body
from mbkit.model import DenavitHartenbergRow as DenavitHartenbergRow
from mbkit.model import JointFriction as JointFriction
from mbkit.model import JointLimits as JointLimits
from mbkit.model import Mechanism as Mechanism
from mbkit.representations import BodyFixed as BodyFixed
from mbkit.representations import Representation as Representation
from mbkit.results import Result as Result
from mbkit.simulation import simulate as simulate
from mbkit.spatial import SpatialInertia as SpatialInertia
from mbkit.systems import System as System
from mbkit.topology import Topology as Topology

__version__ = "0.1.0"
