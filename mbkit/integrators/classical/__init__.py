"""Classical integrators: methods for numbers, on the coordinates of joints."""

from mbkit.integrators.classical.local_vector_space import LocalVectorSpace as LocalVectorSpace
from mbkit.integrators.classical.quaternion_vector_space import (
    QuaternionVectorSpace as QuaternionVectorSpace,
)
