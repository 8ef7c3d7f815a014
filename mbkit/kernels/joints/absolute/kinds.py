"""Numbers in the parameters of an absolute joint that denote its kind.

Its parameters are (orientation, map, lift, side, axis, axis, axis), the axes those of Euler angles.
"""

#: What the positions of the orientation are.
QUATERNION = 0
ROTATION_VECTOR = 1
EULER_ANGLES = 2

#: The map from a step to the rotation that it makes.
EXPONENTIAL = 0
CAYLEY = 1
CAYLEY2 = 2

#: How the map comes to poses: rotation and translation for themselves, by the differential of the
#: map on dual vectors, by the Cayley map of 4x4 matrices.
PRODUCT = 0
DUAL = 1
MATRIX = 2

#: On which side of the pose the step is.
LEFT = 0
RIGHT = 1

#: Where things stand in the parameters.
ORIENTATION, MAP, LIFT, SIDE, AXES = 0, 1, 2, 3, 4
