"""CPU time of mbjax side by side with peers: `python -m experiments.benchmarks [--json FILE]`."""
