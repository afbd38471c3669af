"""What is unknown: the rig, the zeros of the encoders in each run, and the friction of each law."""

import identification as ident

# What each law has of the friction's parts, in both joints.
LAWS = {
    "viscous + Coulomb + gear loss": ("viscous", "dry", "loss"),
    "Coulomb + gear loss": ("dry", "loss"),
    "viscous + Coulomb": ("viscous", "dry"),
    "viscous + Coulomb, unequal directions": ("viscous", "dry", "bias"),
    "viscous + Stribeck": ("viscous", "dry", "breakaway"),
    "Coulomb": ("dry",),
    "viscous": ("viscous",),
}
PARTS = {  # path for joint k, start, lower, upper, unit
    "viscous": ("friction{k}.viscous", 0.003, 0.0, 0.2, "N m s/rad"),
    "dry": ("friction{k}.dry", 0.1, 0.0, 0.5, "N m"),
    "bias": ("bias{k}.signal.value", 0.001, -0.1, 0.1, "N m"),
    "breakaway": ("friction{k}.breakaway", 0.02, 0.0, 0.3, "N m"),
    "loss": ("motor{k}.loss", 0.03, 0.0, 0.5, ""),
}


def friction():
    """The parts of all laws: a law holds those at zero that it does not have."""
    for part, (path, start, lower, upper, unit) in PARTS.items():
        for k in (1, 2):
            yield ident.Parameter(f"{part} {k}", path.format(k=k), start, lower, upper, unit=unit)


def absent(law):
    """The parts that a law holds at zero."""
    return {f"{part} {k}": 0.0 for part in PARTS if part not in LAWS[law] for k in (1, 2)}


def rig():
    """Masses, centres (their y as drawn), inertias about the mass centres, rotors and torque constants.

    Motion tells neither the scale of all torques nor how mass is shared by the links: mass 1 stays as published, and
    priors hold mass 2 and the torque constants near the published mass and one. A log scale keeps every inertia real.
    """
    both = ("motor1.rotor_inertia", "motor2.rotor_inertia")
    return [
        ident.Parameter("mass 2", "link2.mass", 0.65, scale="log", prior=(0.5639, 0.1), unit="kg"),
        ident.Parameter("centre 1", "link1.position.1", -0.17, -0.5, 0.0, unit="m"),
        ident.Parameter("centre 2", "link2.position.1", -0.46, -0.7, -0.2, unit="m"),
        ident.Parameter("inertia 1", "link1.inertia", 0.005, 1e-4, 0.1, scale="log", unit="kg m^2"),
        ident.Parameter("inertia 2", "link2.inertia", 0.005, 1e-4, 0.1, scale="log", unit="kg m^2"),
        ident.Parameter("rotor", both, 1e-4, 1e-6, 1e-3, scale="log", unit="kg m^2"),
        ident.Parameter("torque constant 1", "motor1.torque_constant", scale="log", prior=(1.0, 0.05)),
        ident.Parameter("torque constant 2", "motor2.torque_constant", scale="log", prior=(1.0, 0.05)),
    ]


def zeros(groups):
    """Zeros of both encoders, one pair for each group of experiments: `{label: experiments}`."""
    for label, experiments in groups.items():
        for joint in ("shoulder", "elbow"):
            yield ident.Parameter(
                f"zero of {joint}, {label}", f"{joint}.frame.journal.reference.1", 0.0, -0.5, 0.5, prior=(0.0, 0.05),
                unit="rad", experiments=[e.name for e in experiments],
            )  # fmt: skip
