"""Time integration: solvers, step control, constraint stabilisation, sensitivities."""
