"""The arrays every algorithm works on: one entry a body of the tree, and one of scratch memory.

Body 0 is the world, and ``parent[i] < i``. Frames are canonical: the frame of body i is the frame
of its joint on the body's side, moved so that a screw reads (0, 0, rate, 0, 0, lead). Where another
frame was chosen for a body, it has a constant pose in the canonical one, `own_frame`. Bodies joined
by fixed joints are one body here; where each of the user's bodies sits is in `FRAME`.
"""

import numpy as np

_i8 = np.int64
_f8 = np.float64

#: Kinds of joints: a screw, computed in place, or any other, called through the table; the same
#: where the body's frame is not the joint's. Of all but the first, S is in the scratch memory.
SCREW = 0
TABLE = 1
SCREW_IN_OWN_FRAME = 2
TABLE_IN_OWN_FRAME = 3

#: The model. `R`, `p` place the joint's frame on the parent's side in the parent's frame. The
#: inertia is taken about the origin of the body's own frame, in its axes.
BODY = np.dtype(
    [
        ("parent", _i8),
        ("kind", _i8),
        ("reversed", _i8),  # 1 where the joint's predecessor is the child
        ("constant", _i8),  # 1 where S is the same at every q, seen from the joint's successor
        ("product", _i8),  # 1 of coordinates of the second kind: T = exp(X_1 q_1) ... exp(X_n q_n)
        ("first_position", _i8),
        ("num_positions", _i8),
        ("first_velocity", _i8),
        ("num_velocities", _i8),
        ("floating", _i8),  # address of its numbers where the body floats: recursions.floating
        # of steps on the configuration group; fewer velocities where a joint is nonholonomic
        ("first_step", _i8),
        ("ndx", _i8),
        # columns: the velocities counted in the order of the bodies, which is depth-first, so that
        # those of a subtree follow each other
        ("first_column", _i8),
        ("end_column", _i8),  # of the subtree
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
        ("rate", _f8),  # of a screw: rotation about z by unit of q
        ("lead", _f8),  # of a screw: translation along z by unit of q
        ("mass", _f8),
        ("first_moment", _f8, (3,)),  # mass times centre of mass
        ("moment", _f8, (6,)),  # xx, xy, xz, yy, yz, zz
        ("gravity", _f8, (3,)),  # of row 0 alone, in world axes
        # the joint's row of the table: functions by address, and the parameters they get
        ("motion", _i8),
        ("retract", _i8),
        ("difference", _i8),
        ("dexp_inv", _i8),
        ("rates", _i8),  # 0: velocities are rates of steps
        ("constraint_wrenches", _i8),
        ("configuration_from_pose", _i8),  # 0: one of the tree, or without motion
        ("parameters", _i8),
        # of these two: those of the joint, or of the general forms that call its motion
        ("wrench_parameters", _i8),
        ("configuration_from_pose_parameters", _i8),
        ("own_frame", _i8),  # address of R (by rows), p: the body frame in the joint frame; or 0
    ],
    align=True,
)

#: The parts of a body frame in the joint frame.
OWN_FRAME_P = 9
OWN_FRAME_SIZE = 12

#: Scratch. The first fields belong to body i, the last to velocity k: a moving body has at least
#: one velocity, so that one array of ``1 + max(bodies, nv)`` rows holds both. In the order in which
#: the algorithms touch them: forward dynamics of screws stays in the first 472 of 1040 bytes.
SCRATCH = np.dtype(
    [
        ("R", _f8, (3, 3)),  # pose in the parent
        (
            "p",
            _f8,
            (3,),
        ),  # in the parent's axes; recursions in hybrid twists turn it into the world's
        ("V", _f8, (6,)),  # twist
        ("A", _f8, (6,)),  # acceleration, or the part of it that is there without vdot
        ("F", _f8, (6,)),  # wrench, or the part of it that is there without acceleration
        # articulated inertia [[rotational, coupling], [coupling^T, translational]]
        ("rotational", _f8, (6,)),
        ("coupling", _f8, (9,)),
        ("translational", _f8, (6,)),
        # by velocity
        ("U", _f8, (6,)),  # articulated inertia times S
        ("D", _f8),  # 1 / (S . U)
        ("u", _f8),  # force that is left for this velocity
        # by body again
        # motion subspace by columns, and S-dot v: the joint pass leaves them in the body's frame,
        # the recursions of other representations than body-fixed put them into theirs
        ("S", _f8, (6, 6)),
        ("bias", _f8, (6,)),
        ("wrench", _f8, (6,)),  # applied from outside
        ("mass", _f8),  # as in BODY; of the composite body, or of this one in other axes
        ("first_moment", _f8, (3,)),
        ("moment", _f8, (6,)),
        ("world_R", _f8, (3, 3)),
        ("world_p", _f8, (3,)),
        ("slot", _i8),  # a joint in Python finds its arguments here; row 0: the staging area
        ("taken_as_floating", _i8),  # whether forward dynamics has taken it for a floating body
        ("carries", _i8),  # whether forces need its pose: 0, CARRIES, COMMON
    ],
    align=True,
)

#: Forces act on the body or on bodies beyond it: they need its pose in the world; or nothing but
#: springs act there, with both ends, so that its frame can stand for the world's.
CARRIES = 1
COMMON = 2

#: Where the user's bodies sit: the row that carries them, and the pose of their frame in its frame;
#: and the inertia that fields of acceleration act on, in the body's own frame.
FRAME = np.dtype(
    [
        ("row", _i8),
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
        ("mass", _f8),
        ("first_moment", _f8, (3,)),
    ],
    align=True,
)

#: How far a quaternion's squared length may be from one; within it Q / |Q| is meant.
QUATERNION_TOLERANCE = 2e-6

#: What |R R^T - I| and |det R - 1| of a Python joint's pose may be, by their largest entry.
ROTATION_TOLERANCE = 1e-5

#: Numbers a column: a wrench and one more.
COLUMN_SIZE = 7

#: Directions of derivatives: a record for each entry of a step or, where noted, of a velocity;
#: all in the axes of the world.
DIRECTION = np.dtype(
    [
        ("turn", _f8, (3,)),  # how the twist of the body changes, its angular part
        ("push", _f8, (6,)),  # and its acceleration, less the bracket with the twists beyond it
        ("S", _f8, (6,)),  # of a velocity
        ("rate", _f8, (6,)),  # push of a velocity
    ],
    align=True,
)

#: The same for joints whose S depends on q: what changes by unit of a step.
CHANGE = np.dtype(
    [
        ("D", _f8, (6,)),  # twist
        ("S", _f8, (6, 6)),  # change of S
        ("bias", _f8, (6,)),  # change of S-dot v
        ("bias_rate", _f8, (6,)),  # change of S-dot v by unit of a velocity
        ("R", _f8, (3, 3)),  # change of the pose in the parent
        ("p", _f8, (3,)),
    ],
    align=True,
)

#: The staging area in which a joint's function leaves its pose R (by rows), p.
STAGE_R = 0
STAGE_P = 9
STAGE_SIZE = 12

#: One record a caller: where its arrays lie, by address. It is what every kernel gets.
SPACE = np.dtype(
    [
        ("bodies", _i8),
        ("num_bodies", _i8),
        ("scratch", _i8),
        ("num_rows", _i8),
        ("frames", _i8),
        ("num_frames", _i8),
        # the equations of motion, for time loops
        ("forward_dynamics", _i8),  # of the representation, by address; form of `evaluation`
        ("inverse_dynamics", _i8),  # the same
        ("mass_matrix", _i8),
        ("force", _i8),  # generalized forces of (t, q, v), by address; 0: constant
        ("force_slot", _i8),
        ("tau", _i8),
        ("rest", _i8),  # nv zeros
        ("columns", _i8),  # memory for COLUMN_SIZE numbers a velocity
        ("velocity_of_column", _i8),  # which velocity a column is: integers
        ("directions", _i8),  # DIRECTION entries: ndx of them
        ("changes", _i8),  # CHANGE entries: ndx of them
        ("trial", _i8),  # memory for nq + nv + ndx numbers: another q and v, and a step
        # integers: the column, in matrices of derivatives, of each entry of a step and velocity
        ("column_of", _i8),
        ("num_columns", _i8),  # where some share one; 0: each has its own
        # the forces of the system
        ("force_table", _i8),  # FORCE entries
        ("num_forces", _i8),
        # integers: fields, then what time loops call, then those of `forces.spring_damper_table`
        ("force_order", _i8),
        ("num_fields", _i8),
        ("num_called", _i8),  # with the fields
        ("num_ordered", _i8),
        ("field", _f8, (3,)),  # the sum of the fields, which time loops add to gravity
        ("linear", _i8),  # LINEAR entries: what is not called
        ("num_linear", _i8),
        ("springs", _i8),  # SPRING entries
        ("num_springs", _i8),
        ("sites", _i8),  # SITE entries, those first of which time loops have use
        ("num_sites", _i8),
        ("num_moved", _i8),  # of which time loops have use
        ("force_pass", _i8),  # calls them all, by address; form of `evaluation`
        ("force_search", _i8),  # finds the one that is not finite, by address; the same form
        ("efforts", _i8),  # memory for nv numbers: their sum
        ("time", _i8),  # memory for t
        ("powers", _i8),  # memory for NUM_POWERS numbers, which the force pass leaves
        ("rates", _i8),  # of steps, by address; form of `evaluation`; 0: they are the velocities
        # events: what looks at the end of every step, by address; 0: nothing does
        ("watch", _i8),
        ("watch_slot", _i8),
        # prescribed joints: what moves them, by address; 0: there are none
        ("drive", _i8),
        ("drive_slot", _i8),
        # constraints: a CLOSURE, and by address what brings a state back to them; 0: none
        ("closure", _i8),
        ("project", _i8),
    ],
    align=True,
)

#: Option bits of dynamics: wrenches on bodies are in the scratch memory; the efforts of the forces
#: in SPACE are added to tau in place; less A^T multipliers, and rows of constraints are left.
LOADED = 1
FORCED = 2
CLOSED = 8

#: Of the sites of constraints: they are wanted for another q and v, and accelerations are not.
KINEMATICS = 4

#: A body that forces act on: which row carries it, which row of `FRAME` it is, and in the world, at
#: its own frame: pose, the way there from the carrier's frame, twist, and the wrench of all forces.
SITE = np.dtype(
    [
        ("row", _i8),
        ("frame", _i8),
        ("R", _f8, (3, 3)),
        ("p", _f8, (3,)),
        ("arm", _f8, (3,)),
        ("V", _f8, (6,)),
        ("W", _f8, (6,)),
    ],
    align=True,
)

#: Linear springs and dampers along one velocity: -stiffness (q - rest) - damping v.
LINEAR = np.dtype(
    [
        ("position", _i8),
        ("velocity", _i8),
        ("stiffness", _f8),
        ("rest", _f8),
        ("damping", _f8),
    ],
    align=True,
)

#: A spring and a damper between points of two bodies: these bodies, the points in the
#: frames of the bodies, and the tension stiffness (l - rest) + damping ldot.
SPRING = np.dtype(
    [
        ("row_a", _i8),
        ("row_b", _i8),
        ("point_a", _f8, (3,)),
        ("point_b", _f8, (3,)),
        ("stiffness", _f8),
        ("rest", _f8),
        ("damping", _f8),
    ],
    align=True,
)

#: A force: functions by address, the parameters they get, and what they act on. The joints are
#: JOINT_SIZE integers each, the bodies by their entries of `SITE`.
FORCE = np.dtype(
    [
        ("function", _i8),
        ("potential", _i8),  # 0: none
        ("parameters", _i8),
        ("num_parameters", _i8),
        ("joints", _i8),
        ("num_joints", _i8),
        ("bodies", _i8),
        ("num_bodies", _i8),
        ("slot", _i8),  # a force in Python finds its arguments here
    ],
    align=True,
)

#: Data of a joint for forces.
JOINT_POSITION = 0  # its first entry of q
JOINT_NUM_POSITIONS = 1
JOINT_VELOCITY = 2  # its first entry of v
JOINT_NUM_VELOCITIES = 3
JOINT_SIZE = 4

#: The powers of forces that have no potential energy.
DISSIPATED = 0
SUPPLIED = 1
NUM_POWERS = 2

#: The first number of every slot is the status of its Python function: whether it has returned.
SLOT_STATUS = 0
DONE = 0.0
PENDING = 1.0

#: What follows in the slot of a joint in Python: two inputs of max(nq, ndx, SLOT_LEAST)
#: numbers each, its results, R, p, S-dot v and up to six columns of S, or a vector.
SLOT_FIRST = 1
SLOT_R = 0
SLOT_P = 9
SLOT_BIAS = 12
SLOT_S = 18
SLOT_SIZE = 54

#: What a joint in Python has for parameters: its sizes, and one callback an operation, by address.
PYTHON_NUM_POSITIONS = 0
PYTHON_NUM_VELOCITIES = 1
PYTHON_MOTION = 2
PYTHON_RETRACT = 3
PYTHON_DIFFERENCE = 4
PYTHON_DEXP_INV = 5
PYTHON_WRENCHES = 6
PYTHON_RATES = 7
PYTHON_NDX = 8
PYTHON_CONFIGURATION_FROM_POSE = 9
PYTHON_SIZE = 10

#: Least numbers that an input has room for: a pose takes both inputs.
SLOT_LEAST = 6

#: What the prescribed joints have in their slot after that: callback, t, numbers of positions and
#: velocities, and the hybrid dynamics of the representation by address.
DRIVE_CALLBACK = 1
DRIVE_TIME = 2
DRIVE_NUM_POSITIONS = 3
DRIVE_NUM_VELOCITIES = 4
DRIVE_DYNAMICS = 5
DRIVE_SIZE = 6

#: What a force in Python has in its slot after that: callback and sizes, then t, q, v and tau.
FORCE_CALLBACK = 1
FORCE_NUM_POSITIONS = 2
FORCE_NUM_VELOCITIES = 3
FORCE_TIME = 4
FORCE_VECTORS = 5

#: What a force of the table has in its slot, if it is in Python: callbacks and sizes, how wrenches
#: are written (0 to 3: body-fixed, spatial, hybrid, mixed), which power is its own (-1: none; 2:
#: both), then t, q and v of its joints, poses and twists of its bodies, and its results.
OWN_EVALUATE = 1
OWN_POTENTIAL = 2
OWN_NUM_POSITIONS = 3
OWN_NUM_VELOCITIES = 4
OWN_ON_BODIES = 5
OWN_REPRESENTATION = 6
OWN_POWER = 7
OWN_POWERS = 8
OWN_TIME = 9
OWN_VECTORS = 10
#: Numbers that an answer has room for at least.
OWN_LEAST = 2

BODY_FIXED = 0
SPATIAL = 1
MIXED = 3

#: What the watch on events has in its slot: callback (0: none is in Python) and sizes, WATCH_SIZE
#: numbers an event, then q and v for the callback.
WATCH_CALLBACK = 1
WATCH_NUM_POSITIONS = 2
WATCH_NUM_VELOCITIES = 3
WATCH_COUNT = 4
WATCH_TIME = 5
WATCH_EVENTS = 6

#: An event: its number is an entry of q, or of v, minus a level, or the callback writes it; then
#: which change of its sign counts (RISING, FALLING, or both), whether one that begins at zero does,
#: and what the number was and is.
EVENT_KIND = 0
EVENT_INDEX = 1
EVENT_LEVEL = 2
EVENT_DIRECTION = 3
EVENT_CLOSED = 4
EVENT_BEFORE = 5
EVENT_NOW = 6
WATCH_SIZE = 7

EVENT_POSITION = 0
EVENT_VELOCITY = 1
EVENT_PYTHON = 2

RISING = 1
FALLING = -1
