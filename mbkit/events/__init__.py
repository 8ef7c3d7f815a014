"""Events: actions at the moment at which a number changes its sign.

Time loops look for such changes in `mbkit.kernels.time_loops.event_watch`; the time of one is found
within its step in `mbkit.simulation.stepping.events_within_step`.
"""

from mbkit.events.event import Event as Event
from mbkit.events.quantities import JointPosition as JointPosition
from mbkit.events.quantities import JointVelocity as JointVelocity
from mbkit.events.quantities import PlaneDistance as PlaneDistance
from mbkit.events.quantity import Quantity as Quantity
from mbkit.events.reset import Impact as Impact
from mbkit.events.reset import Reset as Reset

__all__ = [
    "Event", "Impact", "JointPosition", "JointVelocity", "PlaneDistance", "Quantity", "Reset",
]  # fmt: skip
