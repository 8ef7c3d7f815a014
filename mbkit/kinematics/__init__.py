"""Inverse kinematics, joint rates from measured twists, and manipulability."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.kinematics.fitted_derivatives import fit_derivatives as fit_derivatives
    from mbkit.kinematics.fitted_rates import RatesFit as RatesFit
    from mbkit.kinematics.fitted_rates import fit_accelerations as fit_accelerations
    from mbkit.kinematics.fitted_rates import fit_jerks as fit_jerks
    from mbkit.kinematics.fitted_rates import fit_rates as fit_rates
    from mbkit.kinematics.found_configuration import InverseKinematics as InverseKinematics
    from mbkit.kinematics.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from mbkit.kinematics.manipulability import Manipulability as Manipulability
    from mbkit.kinematics.manipulability import manipulability as manipulability
    from mbkit.kinematics.rates import (
        accelerations_from_twist_rates as accelerations_from_twist_rates,
    )
    from mbkit.kinematics.rates import rates_from_twists as rates_from_twists
    from mbkit.kinematics.targets import PoseTarget as PoseTarget
    from mbkit.kinematics.twist_form import TwistForm as TwistForm

look_up_names(__name__)
