"""The bodies of mbkit: a new one is listed here, and here alone.

`mbkit` makes them public, model files find them in `mbkit.parts.BODY_TYPES`; see
`mbkit.catalogue`.
"""

from mbkit.parts.body import RigidBody as RigidBody
from mbkit.parts.solids import Box as Box
from mbkit.parts.solids import Cylinder as Cylinder
from mbkit.parts.solids import MeshBody as MeshBody
from mbkit.parts.solids import PointMass as PointMass
from mbkit.parts.solids import Rod as Rod
from mbkit.parts.solids import Sphere as Sphere
