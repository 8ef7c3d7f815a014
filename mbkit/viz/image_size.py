"""The size of images, which the command line tells without drawing any."""

#: Width and height of images, unless others are asked for. [pixels]
SIZE = (720, 480)
