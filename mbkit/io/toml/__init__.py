"""Model files: TOML to mechanism and back, table by table."""
