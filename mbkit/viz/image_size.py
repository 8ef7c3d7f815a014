"""The size of images, which the command line shows without drawing any."""

#: Default width and height of images. [pixels]
SIZE = (720, 480)
