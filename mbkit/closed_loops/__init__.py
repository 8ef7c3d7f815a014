"""Loop closure: closed configurations, assembly modes, consistent velocities, actuator efforts.

Where loops are cut stands in `mbkit.topology.cuts`; their constraint rows and Jacobian are made in
`mbkit.kernels.constraints`.
"""
