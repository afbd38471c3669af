"""Identification of a real double pendulum (DFKI, design C.0): `python -m experiments.double_pendulum [--quick]`."""
