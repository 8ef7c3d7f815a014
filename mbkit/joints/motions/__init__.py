"""Motions in one kind of coordinates each, to which joints delegate; calls of compiled forms."""
