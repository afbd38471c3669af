"""Studies that use mbjax; run from a checkout."""
