"""Loop closure: closed configurations, assembly modes, consistent velocities, actuator efforts.

Where loops are cut stands in `mbkit.topology.cuts`.
"""
