"""Taylor series of the motion of bodies and of joint screws: kinematics of any order."""
