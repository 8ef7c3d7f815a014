"""Screws, which the recursions compute in place: their poses, coordinates and wrenches.

T(q) turns by rate q about z and shifts by lead q along it.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import arctan2, sin_cos, sqrt

#: The turns of a screw that advances by less in a turn do not follow from its position. [m]
LEAST_ADVANCE = 1e-9

TURN = 6.283185307179586


@helper
def place_screw(row, body, q):
    """R = R_T exp(rate q z~), p = p_T + lead q R_T z; S is constant and has no bias."""
    if row.rate == 0.0:
        c = 1.0
        s = 0.0
    else:
        s, c = sin_cos(row.rate * q)
    shift = row.lead * q
    for j in range(3):
        x = row.R[j, 0]
        y = row.R[j, 1]
        body.R[j, 0] = c * x + s * y
        body.R[j, 1] = c * y - s * x
        body.R[j, 2] = row.R[j, 2]
        body.p[j] = row.p[j] + shift * row.R[j, 2]


@helper
def locate_screw(rate, lead, R, p):
    """The q whose pose is nearest to (R, p): nine numbers by rows, and three.

    The angle is that of the nearest rotation about z, tan a = (R10 - R01) / (R00 + R11). The shift
    gives the turns; by both, q is such that rate (angle left) + lead (shift left) is zero, which
    divides by neither.
    """
    if rate == 0.0:
        return p[2] / lead
    angle = arctan2(R[3] - R[1], R[0] + R[4])
    if lead == 0.0:
        return angle / rate
    turns = (p[2] * rate / lead - angle) / TURN
    if abs(lead) * TURN > LEAST_ADVANCE * abs(rate) and abs(turns) < 1e15:  # false where no number
        angle += TURN * int(turns + (0.5 if turns > 0.0 else -0.5))
    return (rate * angle + lead * p[2]) / (rate * rate + lead * lead)


@helper
def screw_wrenches(rate, lead, out):
    """Write five wrenches of six numbers, which are orthonormal.

    Moments about x and y, forces along x and y, and (0, 0, -lead, 0, 0, rate) by its length: the
    force along z where the screw only turns, the moment about z where it only slides.
    """
    for j in range(30):
        out[j] = 0.0
    out[0] = 1.0
    out[7] = 1.0
    out[15] = 1.0
    out[22] = 1.0
    size = sqrt(rate * rate + lead * lead)
    out[26] = -lead / size
    out[29] = rate / size
