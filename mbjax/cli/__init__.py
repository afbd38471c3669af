"""The command `mbjax`."""
