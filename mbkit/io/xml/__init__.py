"""The parts that XML formats of robots share: strict reading with lines, angles, mesh names."""
