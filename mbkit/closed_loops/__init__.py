"""Loop closure: closed configurations, assembly modes, consistent velocities, actuator efforts."""
