"""The mass matrix times a vector, without the matrix."""

from mbkit.kernels.body_fixed.operators import RECURSION
from mbkit.kernels.compile import address_kernel, at, helper
from mbkit.kernels.evaluation_form import EVALUATION, vector
from mbkit.kernels.recursions.newton_euler import newton_euler
from mbkit.kernels.recursions.world import start
from mbkit.kernels.workspace import at_rest

_ZERO = (0.0, 0.0, 0.0)


@helper
def start_without_gravity(scratch, _acceleration):
    """The world stands still, and nothing falls."""
    start(scratch, _ZERO)


_STEPS = RECURSION._replace(start=start_without_gravity)


@address_kernel(EVALUATION)
def mass_action(space, _option, q, x, _x, out):
    """M x, out (nv,): the forces that accelerate by x from rest. Cost: O(bodies)."""
    return newton_euler(space, 0, q, at(at_rest(space), 0), x, vector(space, out), _STEPS)
