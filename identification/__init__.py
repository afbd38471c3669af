"""Parameters of imperfect joints from measured motion. Empty until the fitting machinery lands (see CHANGELOG)."""
