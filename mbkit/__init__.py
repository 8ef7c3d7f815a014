"""mbkit: rigid multibody systems on screw and Lie group theory."""
