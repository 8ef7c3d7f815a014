"""The conventions of Pinocchio, MuJoCo, iDynTree and Drake.

Each statement was verified with the version that is named, in motion and with misaligned frames:
by the tests against Pinocchio and MuJoCo, and for iDynTree and Drake by numbers that are kept in
the tests.
"""

from __future__ import annotations

from mbkit.conventions.convention import Convention
from mbkit.conventions.form import CLASSICAL, SPATIAL, Form
from mbkit.conventions.free_joint import FreeJointConvention
from mbkit.representations import BodyFixed, Hybrid, Mixed, Spatial

#: Names are those of `pinocchio.ReferenceFrame`. `getFrameAcceleration` is the spatial kind,
#: `getFrameClassicalAcceleration` the classical one. LOCAL_WORLD_ALIGNED has the hybrid twist, and
#: its spatial acceleration is not the rate of it: the classical one is.
PINOCCHIO = Convention(
    "Pinocchio 4.1",
    {
        "LOCAL": Form(BodyFixed(), True, (SPATIAL, CLASSICAL)),
        "WORLD": Form(Spatial(), True, (SPATIAL, CLASSICAL)),
        "LOCAL_WORLD_ALIGNED": Form(Hybrid(), True, (SPATIAL, CLASSICAL)),
    },
    FreeJointConvention("p, xyzw", BodyFixed(), True),
    True,
)

#: "object" and "object_local" are `mj_objectVelocity`, `mj_objectAcceleration` of an mjOBJ_XBODY
#: with flg_local = 0 and 1, and `mj_jac` with its two results stacked, jacr over jacp. "com" is
#: `cvel`, `cacc`, `cfrc_ext` and `cfrc_int`. "xfrc_applied" is for wrenches.
MUJOCO = Convention(
    "MuJoCo 4.0",
    {
        "object": Form(Hybrid(), False, (CLASSICAL,), holds_gravity=True),
        "object_local": Form(BodyFixed(), False, (CLASSICAL,), holds_gravity=True),
        "com": Form(
            Spatial(), False, (SPATIAL,), holds_gravity=True,
            about="subtree_com of the body's root (body_rootid)",
        ),
        "xfrc_applied": Form(
            Spatial(), True, (), about="the body's centre of mass (xipos)"
        ),
    },
    FreeJointConvention("p, wxyz", Mixed(), True),
    False,
)  # fmt: skip

#: Names are those of `FrameVelocityRepresentation` without their ending. iDynTree's MIXED is
#: mbkit's hybrid. Accelerations are the rates of the twists in all three.
IDYNTREE = Convention(
    "iDynTree 15.1",
    {
        "MIXED": Form(Hybrid(), True, (CLASSICAL,)),
        "BODY_FIXED": Form(BodyFixed(), True, (SPATIAL,)),
        "INERTIAL_FIXED": Form(Spatial(), True, (SPATIAL,)),
    },
    FreeJointConvention("pose", Hybrid(), True),
    True,
)

#: "W" and "B" are the frames in which V_WB, A_WB and F_Bo are expressed, that of the world and that
#: of the body.
DRAKE = Convention(
    "Drake 1.51",
    {
        "W": Form(Hybrid(), False, (CLASSICAL,)),
        "B": Form(BodyFixed(), False, (CLASSICAL,)),
    },
    FreeJointConvention("wxyz, p", Hybrid(), False),
    False,
)
