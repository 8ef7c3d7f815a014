"""Coefficients of explicit Runge-Kutta methods, of every order from 1 to 8."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mbkit.integrators.coefficients.tableau import Tableau

__all__ = [
    "BOGACKI_SHAMPINE3",
    "CROUCH_GROSSMAN3",
    "CROUCH_GROSSMAN4",
    "DORMAND_PRINCE5",
    "DORMAND_PRINCE8",
    "EULER",
    "FEHLBERG7",
    "HEUN",
    "KUTTA3",
    "MIDPOINT",
    "RK4",
    "TABLEAUS",
    "Tableau",
    "VERNER6",
]


def _numbers(*entries: float | Fraction) -> list[float]:
    """Return fractions as the nearest numbers."""
    return [float(entry) for entry in entries]


def _lower(rows: Sequence[Sequence[float | Fraction]]) -> Any:
    """Return the square matrix with these beginnings of rows, and zeros after them.

    Examples
    --------
    >>> _lower([[], [Fraction(1, 2)]])
    array([[0. , 0. ], [0.5, 0. ]])
    """
    A = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        A[i, : len(row)] = _numbers(*row)
    return A


_F = Fraction

#: Explicit Euler.
EULER = Tableau("euler", order=1, A=[[0.0]], b=[1.0])

#: Heun's method of order 2, with Euler's for an error estimate.
HEUN = Tableau(
    "heun",
    order=2,
    A=[[0.0, 0.0], [1.0, 0.0]],
    b=[0.5, 0.5],
    b_embedded=[1.0, 0.0],
    embedded_order=1,
)

#: The midpoint rule. Runge 1895.
MIDPOINT = Tableau("midpoint", order=2, A=[[0.0, 0.0], [0.5, 0.0]], b=[0.0, 1.0])

#: Kutta's method of order 3. Kutta 1901.
KUTTA3 = Tableau(
    "kutta3",
    order=3,
    A=_lower([[], [_F(1, 2)], [-1, 2]]),
    b=_numbers(_F(1, 6), _F(2, 3), _F(1, 6)),
)

#: The pair 3(2) of Bogacki and Shampine, "A 3(2) pair of Runge-Kutta formulas", Appl. Math. Lett. 2
#: (1989) 321-325; within a step Hermite's cubic. Its fourth stage is at the end of the step.
BOGACKI_SHAMPINE3 = Tableau(
    "bogacki_shampine3",
    order=3,
    A=_lower([[], [_F(1, 2)], [0, _F(3, 4)], [_F(2, 9), _F(1, 3), _F(4, 9)]]),
    b=_numbers(_F(2, 9), _F(1, 3), _F(4, 9), 0),
    b_embedded=_numbers(_F(7, 24), _F(1, 4), _F(1, 3), _F(1, 8)),
    embedded_order=2,
    b_dense=[
        _numbers(1, _F(-4, 3), _F(5, 9)),
        _numbers(0, 1, _F(-2, 3)),
        _numbers(0, _F(4, 3), _F(-8, 9)),
        _numbers(0, -1, 1),
    ],
    dense_order=3,
)

#: The classical method. Kutta 1901.
RK4 = Tableau(
    "rk4",
    order=4,
    A=_lower([[], [_F(1, 2)], [0, _F(1, 2)], [0, 0, 1]]),
    b=_numbers(_F(1, 6), _F(1, 3), _F(1, 3), _F(1, 6)),
)

#: The pair 5(4) of Dormand and Prince, "A family of embedded Runge-Kutta formulae", J. Comput.
#: Appl. Math. 6 (1980) 19-26, table 2, RK5(4)7M. Its seventh stage is at the end of the step.
#: Within a step of order 4: Shampine, "Some practical Runge-Kutta formulas", Math. Comp. 46 (1986)
#: 135-150.
DORMAND_PRINCE5 = Tableau(
    "dormand_prince5",
    order=5,
    A=_lower(
        [
            [],
            [_F(1, 5)],
            [_F(3, 40), _F(9, 40)],
            [_F(44, 45), _F(-56, 15), _F(32, 9)],
            [_F(19372, 6561), _F(-25360, 2187), _F(64448, 6561), _F(-212, 729)],
            [_F(9017, 3168), _F(-355, 33), _F(46732, 5247), _F(49, 176), _F(-5103, 18656)],
            [_F(35, 384), 0, _F(500, 1113), _F(125, 192), _F(-2187, 6784), _F(11, 84)],
        ]
    ),
    b=_numbers(_F(35, 384), 0, _F(500, 1113), _F(125, 192), _F(-2187, 6784), _F(11, 84), 0),
    b_embedded=_numbers(
        _F(5179, 57600), 0, _F(7571, 16695), _F(393, 640), _F(-92097, 339200), _F(187, 2100),
        _F(1, 40),
    ),
    embedded_order=4,
    b_dense=[
        _numbers(
            1, _F(-8048581381, 2820520608), _F(8663915743, 2820520608),
            _F(-12715105075, 11282082432),
        ),
        _numbers(0, 0, 0, 0),
        _numbers(
            0, _F(131558114200, 32700410799), _F(-68118460800, 10900136933),
            _F(87487479700, 32700410799),
        ),
        _numbers(
            0, _F(-1754552775, 470086768), _F(14199869525, 1410260304),
            _F(-10690763975, 1880347072),
        ),
        _numbers(
            0, _F(127303824393, 49829197408), _F(-318862633887, 49829197408),
            _F(701980252875, 199316789632),
        ),
        _numbers(
            0, _F(-282668133, 205662961), _F(2019193451, 616988883), _F(-1453857185, 822651844),
        ),
        _numbers(0, _F(40617522, 29380423), _F(-110615467, 29380423), _F(69997945, 29380423)),
    ],
    dense_order=4,
)  # fmt: skip

#: Keeps order 3 where every coefficient has an exponential of its own. Crouch, Grossman, "Numerical
#: integration of ordinary differential equations on manifolds", J. Nonlinear Sci. 3 (1993) 1-33.
CROUCH_GROSSMAN3 = Tableau(
    "crouch_grossman3",
    order=3,
    A=_lower([[], [_F(3, 4)], [_F(119, 216), _F(17, 108)]]),
    b=_numbers(_F(13, 51), _F(-2, 3), _F(24, 17)),
)

#: Keeps order 4 there. Owren, Marthinsen, "Runge-Kutta methods adapted to manifolds and based on
#: rigid frames", BIT 39 (1999) 116-142.
CROUCH_GROSSMAN4 = Tableau(
    "crouch_grossman4",
    order=4,
    A=_lower(
        [
            [],
            [0.8177227988124852],
            [0.3199876375476427, 0.0659864263556022],
            [0.9214417194464946, 0.4997857776773573, -1.0969984448371582],
            [0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465],
        ]
    ),
    b=[
        0.1370831520630755,
        -0.0183698531564020,
        0.7397813985370780,
        -0.1907142565505889,
        0.3322195591068374,
    ],
)

#: The pair 6(5) of Verner, "Explicit Runge-Kutta methods with estimates of the local truncation
#: error", SIAM J. Numer. Anal. 15 (1978) 772-790, as in the program DVERK.
VERNER6 = Tableau(
    "verner6",
    order=6,
    A=_lower(
        [
            [],
            [_F(1, 6)],
            [_F(4, 75), _F(16, 75)],
            [_F(5, 6), _F(-8, 3), _F(5, 2)],
            [_F(-165, 64), _F(55, 6), _F(-425, 64), _F(85, 96)],
            [_F(12, 5), -8, _F(4015, 612), _F(-11, 36), _F(88, 255)],
            [_F(-8263, 15000), _F(124, 75), _F(-643, 680), _F(-81, 250), _F(2484, 10625)],
            [
                _F(3501, 1720), _F(-300, 43), _F(297275, 52632), _F(-319, 2322), _F(24068, 84065),
                0, _F(3850, 26703),
            ],
        ]
    ),
    b=_numbers(
        _F(3, 40), 0, _F(875, 2244), _F(23, 72), _F(264, 1955), 0, _F(125, 11592), _F(43, 616)
    ),
    b_embedded=_numbers(
        _F(13, 160), 0, _F(2375, 5984), _F(5, 16), _F(12, 85), _F(3, 44), 0, 0
    ),
    embedded_order=5,
)  # fmt: skip

#: The pair 7(8) of Fehlberg, *Classical fifth-, sixth-, seventh-, and eighth-order Runge-Kutta
#: formulas with stepsize control*, NASA TR R-287, 1968, table X. The estimate is of the error of
#: order 7. Hairer, Norsett, Wanner 1993, table II.5.3.
FEHLBERG7 = Tableau(
    "fehlberg7",
    order=7,
    A=_lower(
        [
            [],
            [_F(2, 27)],
            [_F(1, 36), _F(1, 12)],
            [_F(1, 24), 0, _F(1, 8)],
            [_F(5, 12), 0, _F(-25, 16), _F(25, 16)],
            [_F(1, 20), 0, 0, _F(1, 4), _F(1, 5)],
            [_F(-25, 108), 0, 0, _F(125, 108), _F(-65, 27), _F(125, 54)],
            [_F(31, 300), 0, 0, 0, _F(61, 225), _F(-2, 9), _F(13, 900)],
            [2, 0, 0, _F(-53, 6), _F(704, 45), _F(-107, 9), _F(67, 90), 3],
            [
                _F(-91, 108), 0, 0, _F(23, 108), _F(-976, 135), _F(311, 54), _F(-19, 60),
                _F(17, 6), _F(-1, 12),
            ],
            [
                _F(2383, 4100), 0, 0, _F(-341, 164), _F(4496, 1025), _F(-301, 82), _F(2133, 4100),
                _F(45, 82), _F(45, 164), _F(18, 41),
            ],
            [
                _F(3, 205), 0, 0, 0, 0, _F(-6, 41), _F(-3, 205), _F(-3, 41), _F(3, 41), _F(6, 41),
            ],
            [
                _F(-1777, 4100), 0, 0, _F(-341, 164), _F(4496, 1025), _F(-289, 82), _F(2193, 4100),
                _F(51, 82), _F(33, 164), _F(12, 41), 0, 1,
            ],
        ]
    ),
    b=_numbers(
        _F(41, 840), 0, 0, 0, 0, _F(34, 105), _F(9, 35), _F(9, 35), _F(9, 280), _F(9, 280),
        _F(41, 840), 0, 0,
    ),
    b_embedded=_numbers(
        0, 0, 0, 0, 0, _F(34, 105), _F(9, 35), _F(9, 35), _F(9, 280), _F(9, 280), 0,
        _F(41, 840), _F(41, 840),
    ),
    embedded_order=8,
)  # fmt: skip

#: The pair 8(7) of Prince and Dormand, "High order embedded Runge-Kutta formulae", J. Comput. Appl.
#: Math. 7 (1981) 67-75, table 2, RK8(7)13M: fractions of 18 digits.
DORMAND_PRINCE8 = Tableau(
    "dormand_prince8",
    order=8,
    A=_lower(
        [
            [],
            [_F(1, 18)],
            [_F(1, 48), _F(1, 16)],
            [_F(1, 32), 0, _F(3, 32)],
            [_F(5, 16), 0, _F(-75, 64), _F(75, 64)],
            [_F(3, 80), 0, 0, _F(3, 16), _F(3, 20)],
            [
                _F(29443841, 614563906), 0, 0, _F(77736538, 692538347),
                _F(-28693883, 1125000000), _F(23124283, 1800000000),
            ],
            [
                _F(16016141, 946692911), 0, 0, _F(61564180, 158732637), _F(22789713, 633445777),
                _F(545815736, 2771057229), _F(-180193667, 1043307555),
            ],
            [
                _F(39632708, 573591083), 0, 0, _F(-433636366, 683701615),
                _F(-421739975, 2616292301), _F(100302831, 723423059), _F(790204164, 839813087),
                _F(800635310, 3783071287),
            ],
            [
                _F(246121993, 1340847787), 0, 0, _F(-37695042795, 15268766246),
                _F(-309121744, 1061227803), _F(-12992083, 490766935),
                _F(6005943493, 2108947869), _F(393006217, 1396673457),
                _F(123872331, 1001029789),
            ],
            [
                _F(-1028468189, 846180014), 0, 0, _F(8478235783, 508512852),
                _F(1311729495, 1432422823), _F(-10304129995, 1701304382),
                _F(-48777925059, 3047939560), _F(15336726248, 1032824649),
                _F(-45442868181, 3398467696), _F(3065993473, 597172653),
            ],
            [
                _F(185892177, 718116043), 0, 0, _F(-3185094517, 667107341),
                _F(-477755414, 1098053517), _F(-703635378, 230739211),
                _F(5731566787, 1027545527), _F(5232866602, 850066563),
                _F(-4093664535, 808688257), _F(3962137247, 1805957418),
                _F(65686358, 487910083),
            ],
            [
                _F(403863854, 491063109), 0, 0, _F(-5068492393, 434740067),
                _F(-411421997, 543043805), _F(652783627, 914296604),
                _F(11173962825, 925320556), _F(-13158990841, 6184727034),
                _F(3936647629, 1978049680), _F(-160528059, 685178525),
                _F(248638103, 1413531060),
            ],
        ]
    ),
    b=_numbers(
        _F(14005451, 335480064), 0, 0, 0, 0, _F(-59238493, 1068277825),
        _F(181606767, 758867731), _F(561292985, 797845732), _F(-1041891430, 1371343529),
        _F(760417239, 1151165299), _F(118820643, 751138087), _F(-528747749, 2220607170),
        _F(1, 4),
    ),
    b_embedded=_numbers(
        _F(13451932, 455176623), 0, 0, 0, 0, _F(-808719846, 976000145),
        _F(1757004468, 5645159321), _F(656045339, 265891186), _F(-3867574721, 1518517206),
        _F(465885868, 322736535), _F(53011238, 667516719), _F(2, 45), 0,
    ),
    embedded_order=7,
)  # fmt: skip


#: All of the above by name, and those of high order.
TABLEAUS = {
    tableau.name: tableau
    for tableau in (
        EULER,
        HEUN,
        MIDPOINT,
        KUTTA3,
        BOGACKI_SHAMPINE3,
        RK4,
        DORMAND_PRINCE5,
        VERNER6,
        FEHLBERG7,
        DORMAND_PRINCE8,
        CROUCH_GROSSMAN3,
        CROUCH_GROSSMAN4,
    )
}
