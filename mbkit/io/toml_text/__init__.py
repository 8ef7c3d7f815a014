"""TOML texts of others, read with care; model files are read by `mbkit.io.toml`."""
