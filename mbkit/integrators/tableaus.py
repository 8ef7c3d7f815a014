"""Coefficients of explicit Runge-Kutta methods, of every order from 1 to 8."""

from __future__ import annotations

from fractions import Fraction

from mbkit.integrators.high_order_tableaus import DORMAND_PRINCE8, FEHLBERG7, VERNER6
from mbkit.integrators.rationals import lower, numbers
from mbkit.integrators.tableau import Tableau

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
    "VERNER6",
    "Tableau",
]

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
    A=lower([[], [_F(1, 2)], [-1, 2]]),
    b=numbers(_F(1, 6), _F(2, 3), _F(1, 6)),
)

#: The pair 3(2) of Bogacki and Shampine, "A 3(2) pair of Runge-Kutta formulas", Appl. Math. Lett. 2
#: (1989) 321-325; within a step Hermite's cubic. Its fourth stage is at the end of the step.
BOGACKI_SHAMPINE3 = Tableau(
    "bogacki_shampine3",
    order=3,
    A=lower([[], [_F(1, 2)], [0, _F(3, 4)], [_F(2, 9), _F(1, 3), _F(4, 9)]]),
    b=numbers(_F(2, 9), _F(1, 3), _F(4, 9), 0),
    b_embedded=numbers(_F(7, 24), _F(1, 4), _F(1, 3), _F(1, 8)),
    embedded_order=2,
    b_dense=[
        numbers(1, _F(-4, 3), _F(5, 9)),
        numbers(0, 1, _F(-2, 3)),
        numbers(0, _F(4, 3), _F(-8, 9)),
        numbers(0, -1, 1),
    ],
    dense_order=3,
)

#: The classical method. Kutta 1901.
RK4 = Tableau(
    "rk4",
    order=4,
    A=lower([[], [_F(1, 2)], [0, _F(1, 2)], [0, 0, 1]]),
    b=numbers(_F(1, 6), _F(1, 3), _F(1, 3), _F(1, 6)),
)

#: The pair 5(4) of Dormand and Prince, "A family of embedded Runge-Kutta formulae", J. Comput.
#: Appl. Math. 6 (1980) 19-26, table 2, RK5(4)7M. Its seventh stage is at the end of the step.
#: Within a step of order 4: Shampine, "Some practical Runge-Kutta formulas", Math. Comp. 46 (1986)
#: 135-150.
DORMAND_PRINCE5 = Tableau(
    "dormand_prince5",
    order=5,
    A=lower(
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
    b=numbers(_F(35, 384), 0, _F(500, 1113), _F(125, 192), _F(-2187, 6784), _F(11, 84), 0),
    b_embedded=numbers(
        _F(5179, 57600), 0, _F(7571, 16695), _F(393, 640), _F(-92097, 339200), _F(187, 2100),
        _F(1, 40),
    ),
    embedded_order=4,
    b_dense=[
        numbers(
            1,
            _F(-8048581381, 2820520608),
            _F(8663915743, 2820520608),
            _F(-12715105075, 11282082432),
        ),
        numbers(0, 0, 0, 0),
        numbers(
            0,
            _F(131558114200, 32700410799),
            _F(-68118460800, 10900136933),
            _F(87487479700, 32700410799),
        ),
        numbers(
            0,
            _F(-1754552775, 470086768),
            _F(14199869525, 1410260304),
            _F(-10690763975, 1880347072),
        ),
        numbers(
            0,
            _F(127303824393, 49829197408),
            _F(-318862633887, 49829197408),
            _F(701980252875, 199316789632),
        ),
        numbers(
            0,
            _F(-282668133, 205662961),
            _F(2019193451, 616988883),
            _F(-1453857185, 822651844),
        ),
        numbers(
            0,
            _F(40617522, 29380423),
            _F(-110615467, 29380423),
            _F(69997945, 29380423),
        ),
    ],
    dense_order=4,
)  # fmt: skip

#: Keeps order 3 where every coefficient has an exponential of its own. Crouch, Grossman, "Numerical
#: integration of ordinary differential equations on manifolds", J. Nonlinear Sci. 3 (1993) 1-33.
CROUCH_GROSSMAN3 = Tableau(
    "crouch_grossman3",
    order=3,
    A=lower([[], [_F(3, 4)], [_F(119, 216), _F(17, 108)]]),
    b=numbers(_F(13, 51), _F(-2, 3), _F(24, 17)),
)

#: Keeps order 4 there. Owren, Marthinsen, "Runge-Kutta methods adapted to manifolds and based on
#: rigid frames", BIT 39 (1999) 116-142.
CROUCH_GROSSMAN4 = Tableau(
    "crouch_grossman4",
    order=4,
    A=lower(
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
