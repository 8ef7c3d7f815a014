"""Coefficients of explicit methods, as data, and the conditions of their order."""

from mbkit.lazy_names import look_up_names

look_up_names(__name__)
