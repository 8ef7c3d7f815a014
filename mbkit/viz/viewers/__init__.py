"""Viewers: pages of viser, pictures of MuJoCo; how one is chosen."""
