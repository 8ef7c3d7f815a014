"""What shows and films mechanisms: pages of viser, pictures of MuJoCo; how one is chosen."""
