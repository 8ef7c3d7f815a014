"""TOML texts of others, read with care."""
