"""Dynamics and kinematics of trees: the algorithms, which take the operators of a representation.

`newton_euler` is RNEA, `articulated_body` ABA, `composite_body` CRBA.
"""
