"""The watch on events: which numbers change their sign over a step."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.layout import (
    DONE,
    EVENT_BEFORE,
    EVENT_CLOSED,
    EVENT_DIRECTION,
    EVENT_INDEX,
    EVENT_KIND,
    EVENT_LEVEL,
    EVENT_NOW,
    EVENT_POSITION,
    EVENT_VELOCITY,
    FALLING,
    PENDING,
    RISING,
    SLOT_STATUS,
    SPACE,
    WATCH_CALLBACK,
    WATCH_COUNT,
    WATCH_EVENTS,
    WATCH_NUM_POSITIONS,
    WATCH_NUM_VELOCITIES,
    WATCH_SIZE,
    WATCH_TIME,
)
from mbkit.kernels.prescribed_motion import drive
from mbkit.kernels.status import EVENT, EVENT_FAILED, OK, failure


@helper
def look(space, t, q, v):
    """OK where a step may end at (t, q, v): no event is watched, or none is in the step.

    Writes  q and v of prescribed joints.
    """
    status = drive(space, t, q, v)
    if status != OK:
        return status
    record = records_at(space, 1, SPACE)[0]
    if record.watch == 0:
        return OK
    return call_address(record.watch, (record.watch_slot, t, q, v))


@helper
def has_crossed(before, now, direction, closed):
    """Whether a change of sign counts.

    closed: a fall begins at zero or above and ends below, and a rise likewise, so that a contact
    is not left through the wall. Otherwise one begins off zero, and reaching zero is enough.
    """
    if closed != 0.0:
        return (direction == FALLING and before >= 0.0 and now < 0.0) or (
            direction == RISING and before <= 0.0 and now > 0.0
        )
    fallen = before > 0.0 and now <= 0.0
    risen = before < 0.0 and now >= 0.0
    return (fallen and direction != RISING) or (risen and direction != FALLING)


@address_kernel("idpp")
def watch(slot, t, q, v):
    """EVENT where a number has crossed zero since the last call that was OK.

    Writes  EVENT_NOW of every event; EVENT_BEFORE too, unless something has happened.
    """
    head = floats_at(slot, WATCH_EVENTS)
    count = int(head[WATCH_COUNT])
    nq = int(head[WATCH_NUM_POSITIONS])
    nv = int(head[WATCH_NUM_VELOCITIES])
    memory = floats_at(slot, WATCH_EVENTS + WATCH_SIZE * count + nq + nv)[WATCH_EVENTS:]
    if head[WATCH_CALLBACK] != 0.0:
        vectors = memory[WATCH_SIZE * count :]
        assign(vectors[:nq], as_array(q, nq))
        assign(vectors[nq:], as_array(v, nv))
        head[WATCH_TIME] = t
        head[SLOT_STATUS] = PENDING
        call_address(int(head[WATCH_CALLBACK]), (slot,))
        if head[SLOT_STATUS] != DONE:
            return failure(EVENT_FAILED, count)  # the callback
    happened = False
    for k in range(count):
        event = memory[WATCH_SIZE * k : WATCH_SIZE * (k + 1)]
        if event[EVENT_KIND] == EVENT_POSITION:
            event[EVENT_NOW] = q[int(event[EVENT_INDEX])] - event[EVENT_LEVEL]
        elif event[EVENT_KIND] == EVENT_VELOCITY:
            event[EVENT_NOW] = v[int(event[EVENT_INDEX])] - event[EVENT_LEVEL]
        if not abs(event[EVENT_NOW]) < float("inf"):
            return failure(EVENT_FAILED, k)
        if has_crossed(
            event[EVENT_BEFORE], event[EVENT_NOW], event[EVENT_DIRECTION], event[EVENT_CLOSED]
        ):
            happened = True
    if happened:
        return failure(EVENT, 0)
    for k in range(count):
        memory[WATCH_SIZE * k + EVENT_BEFORE] = memory[WATCH_SIZE * k + EVENT_NOW]
    return OK
