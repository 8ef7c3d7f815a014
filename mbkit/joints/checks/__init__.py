"""Checks of joints of users, made as soon as they are added."""
