"""MuJoCo's numbers of kinds of joints, equalities and shapes.

They are part of its compiled models, the same in mujoco 3.2 to 4.0. Written here, so that mbkit
reads no mujoco before a file is read; the tests against mujoco compare them with its own.
"""

from __future__ import annotations

#: mjtJoint
FREE, BALL, SLIDE, HINGE = range(4)
JOINTS = ("free", "ball", "slide", "hinge")

#: mjtEq
CONNECT, WELD, COUPLING = range(3)

#: mjtObj
SITE = 6

#: mjtGeom
PLANE, HEIGHTS, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)

#: mjtDisableBit: features that a model may switch off
EQUALITY, LIMIT, SPRING, DAMPER, GRAVITY = 2, 8, 32, 64, 128
