"""Tables of a model file, each read into what it describes."""
