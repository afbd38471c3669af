"""Model files: TOML to a mechanism and back."""
