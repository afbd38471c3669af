"""What study files can say beyond a motion compared sample by sample; repeated runs."""

import json

import numpy as np
import pytest

import identification as ident
import mbjax as mb

MASS, STIFF, DAMP, BRANCH, RELAX = 3.0, 2e5, 30.0, 8e4, 2e-3


@pytest.fixture
def pendulum(tmp_path):
    """A study of a pendulum, `study(experiment, fit)`: the tables of one experiment and of the fit."""
    mechanism = mb.library.pendulum(length=0.4, mass=2.0, inertia=(0.05, 0.05, 0.05), angle=1.0)
    (tmp_path / "model.toml").write_text(mechanism.to_toml())
    ts = np.linspace(0.0, 2.0, 201)
    swing = np.cos(5.0 * ts)
    rows = [f"{t},{x},{v}" for t, x, v in zip(ts, swing, -5 * np.sin(5 * ts), strict=True)]
    (tmp_path / "run.csv").write_text("\n".join(["t,spin,rate", *rows]))

    def study(experiment, fit=""):
        (tmp_path / "study.toml").write_text(
            f'model = "model.toml"\n[parameters.mass]\npath = "bob.mass"\n{experiment}\n{fit}'
        )
        return ident.load_study(tmp_path / "study.toml")

    return study


MOTION = """
[experiments.swing]
file = "run.csv"
positions = {"pin.spin" = 1.0}
speeds = {"pin.spin" = 0.0}
channels = {"pin.spin" = {column = "spin", sigma = 1e-3}}
"""


def test_loss_method_and_repeats_of_a_study_file(pendulum):
    fit = '[fit]\nloss = "huber"\nloss_scale = 2.0\nrepeats = true\nmethod = {optax = "adam", learning_rate = 0.02}'
    study = pendulum(MOTION, fit)
    assert (study.problem.loss, study.problem.loss_scale, study.repeats) == ("huber", 2.0, True)
    assert hasattr(study.settings["method"], "update") and "loss" not in study.settings


@pytest.mark.parametrize(("fit", "message"), [
    ('method = "newton"', r"fit\.method: is .*expected \"lm\" or"),
    ('method = {optax = "adamant"}', "Optax has no optimiser `adamant`"),
    ('method = {optax = "adam", rate = 1.0}', "optax.adam refuses these arguments"),
    ('loss = "hubert"', r"fit\.loss: .*`hubert`.*Did you mean `huber`"),
    ("repeats = 3", r"fit\.repeats: is .*expected true or false"),
    ("starts = 0", r"study\.toml: fit\.starts: is 0; expected a whole number of at least 1"),
    ("starts = 1.5", r"fit\.starts: is 1\.5; expected a whole number"),
    ("candidates = 2\nstarts = 3", r"fit\.candidates: 2 candidates are fewer than 3 starts"),
    ("horizons = [1.0, 0.5]", r"fit\.horizons: .*must be positive and increase"),
    ("rtol = -1e-6", r"fit\.rtol: is -1e-06; expected a positive number"),
])  # fmt: skip
def test_faulty_fit_tables_name_the_key(pendulum, fit, message):
    with pytest.raises(ValueError, match=message):
        pendulum(MOTION, f"[fit]\n{fit}")


@pytest.mark.parametrize(("old", "new", "message"), [
    ('{"pin.spin" = 1.0}', '{"pin.spin" = "4 mm"}', r"experiments\.swing\.positions.*`4 mm` is in m; expected"),
    ('{"pin.spin" = 0.0}', '{"pin.spin" = "0 kg"}', r"experiments\.swing\.speeds.*`0 kg` is in kg; expected"),
    ('"spin", sigma', '"spin", unit = "mm", sigma', r"channels.*\.unit: `mm` is in m; expected rad"),
    ('"spin", sigma', '"rate [deg]", unit = "rad", sigma', r"unit: .*but the column is headed `rate \[deg\]`"),
    ('file =', 'validation = true\nfile =', "nothing to fit to; all experiments are for validation"),
])  # fmt: skip
def test_units_that_do_not_fit_a_channel_are_refused(pendulum, tmp_path, old, new, message):
    path = tmp_path / "run.csv"
    path.write_text(path.read_text().replace("t,spin,rate", "t,spin,rate [deg]"))
    assert old in MOTION
    with pytest.raises(ValueError, match=message):
        pendulum(MOTION.replace(old, new))


def test_plain_sigma_and_offset_are_in_the_unit_of_the_column(pendulum, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(path.read_text().replace("t,spin,rate", "t,spin [deg],rate"))
    compared = 'channels = {"pin.spin" = {column = "spin [deg]", sigma = 2.0, offset = 3.0}}'
    study = pendulum(MOTION[: MOTION.index("channels")] + compared)
    (found,) = study.problem.experiments[0].compared
    np.testing.assert_allclose([found.sigma, found.offset, found.factor], np.radians([2.0, 3.0, 1.0]))


def test_a_path_beside_paths_and_a_prior_below_zero_are_refused(pendulum):
    with pytest.raises(ValueError, match=r"parameters\.mass\.path: is given beside `paths`"):
        pendulum('paths = ["bob.mass"]' + MOTION)
    with pytest.raises(ValueError, match=r"with a log scale the prior's mean must be positive, got -2"):
        pendulum('scale = "log"\nprior = [-2.0, 0.1]' + MOTION)


def test_segments_of_a_study_file_bring_their_starts(pendulum):
    study = pendulum(MOTION + 'segments = {count = 3, coordinates = ["pin.spin"], continuity = [1e-5, 1e-3]}')
    names = [e.name for e in study.problem.experiments]
    assert names == ["swing, segment 1", "swing, segment 2", "swing, segment 3"]
    assert study.problem.names[1:3] == ("position of pin.spin, segment 2", "speed of pin.spin, segment 2")
    assert len(study.problem.links) == 2
    for wrong, message in (
        ('{coordinates = ["pin.spin"]}', "either `count`"),
        ("{count = 3}", "coordinates"),
        ('{count = 1, coordinates = ["pin.spin"]}', "at least 2"),
        ('{count = 3, coordinates = ["pin.tilt"]}', "`pin.tilt` is not compared"),
    ):
        with pytest.raises(ValueError, match=message):
            pendulum(MOTION + f"segments = {wrong}")


FEATURES = """
[experiments.late]
file = "run.csv"
positions = {"pin.spin" = 1.0}
speeds = {"pin.spin" = 0.0}
[experiments.late.features]
rms = {kind = "RootMeanSquare", channel = "pin.spin_rate", column = "rate", sigma = 0.01}
last = {kind = "Final", channel = "pin.spin", values = [0.25], sigma = 0.01}
"""


def test_features_of_a_study_file_are_taken_from_its_columns(pendulum):
    (test,) = pendulum(FEATURES).problem.experiments
    assert isinstance(test, ident.FeatureTest)
    ts = np.linspace(0.0, 2.0, 201)
    rms = np.sqrt(np.trapezoid((5 * np.sin(5 * ts)) ** 2, ts) / 2.0)
    np.testing.assert_allclose(test.features[0].values, [rms], rtol=1e-12)
    np.testing.assert_allclose(test.features[1].values, [0.25])
    for old, new, message in (
        ("RootMeanSquare", "RootMeanSquares", "Did you mean `RootMeanSquare`"),
        ('column = "rate", ', "", "values"),
        ('column = "rate"', 'column = "rates"', "Did you mean `rate`"),
        ("[0.25]", "[0.25, 0.5]", "2 values were given for 1 numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            pendulum(FEATURES.replace(old, new))


def shaken(tmp_path):
    """A carriage on a bushing, pushed: the study of its measured accelerance, by the closed form."""
    bushing = mb.Bushing(
        [8e5, 8e5, STIFF / 2, 40.0, 40.0, 5.0], damping=[0, 0, 2 * DAMP, 0, 0, 0],
        branches=[mb.Maxwell([0, 0, 2 * BRANCH, 0, 0, 0], RELAX / 2)],
    )  # fmt: skip
    rig = mb.library.bushing_rig(bushing, mass=MASS).remove("shaker")
    push = mb.AppliedForce("push", "carriage", mb.signal.Constant(0.0), (1.0, 0.0, 0.0))
    (tmp_path / "model.toml").write_text(rig.add(push).to_toml())
    frequencies = np.geomspace(2.0, 300.0, 40)
    s = 2j * np.pi * frequencies
    response = s**2 / (MASS * s**2 + DAMP * s + STIFF + BRANCH * s * RELAX / (1 + s * RELAX))
    rows = [f"{f},{abs(a)},{np.degrees(np.angle(a)) + 360}" for f, a in zip(frequencies, response, strict=True)]
    (tmp_path / "frf.csv").write_text("\n".join(["f [Hz],size [m/s^2],phase [deg]", *rows]))
    (tmp_path / "study.toml").write_text("""model = "model.toml"
[parameters.stiffness]
path = "mount.stiffness.2.2"
scale = "log"
[parameters.damping]
path = "mount.damping.2.2"
scale = "log"
[parameters.branch]
path = "mount.branches.0.stiffness.2.2"
scale = "log"
[parameters.relaxation]
path = "mount.branches.0.relaxation_time"
scale = "log"
[experiments.shaker]
file = "frf.csv"
load = "push"
channel = "carriage.position.x"
quantity = "acceleration"
frequency = "f [Hz]"
channels = {magnitude = {column = "size [m/s^2]", sigma = 1e-4}, phase = {column = "phase [deg]", sigma = "0.01 deg"}}
""")
    return tmp_path / "study.toml"


def test_frequency_responses_are_read_and_their_faults_named(tmp_path):
    path = shaken(tmp_path)
    (test,) = ident.load_study(path).problem.experiments
    assert test.measured.shape == (40, 2) and test.quantity == "acceleration"
    text = path.read_text()
    for old, new, message in (
        ('"acceleration"', '"accelerance"', "quantity `accelerance` is unknown"),
        ("magnitude =", "size =", "`size` is unknown; there are magnitude"),
        ('load = "push"', 'load = "pull"', "pull"),
        ('frequency = "f [Hz]"', 'frequency = "f"', "Did you mean `f \\[Hz\\]`"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(ValueError, match=message):
            ident.load_study(path)


@pytest.mark.slow
def test_stiffness_damping_and_maxwell_branch_from_a_frequency_response(tmp_path):
    study = ident.load_study(shaken(tmp_path))
    assert ident.check(study.problem).ok
    found = ident.fit(study.problem, **study.settings)
    np.testing.assert_allclose(found.x, [STIFF, DAMP, BRANCH, RELAX], rtol=1e-6)


@pytest.mark.slow
def test_repeated_runs_show_what_changes_from_run_to_run(tmp_path):
    """Three swings whose masses differ by 1 %, of a hinged bar pulled by a spring of known stiffness."""
    coil = mb.JointSpring("coil", "pin", "spin", mb.element.characteristic.Linear(30.0))
    mechanism = mb.library.pendulum(length=0.4, mass=2.0, inertia=(0.05, 0.05, 0.05), angle=1.0).add(coil)
    system = mb.assemble(mechanism)
    ts, random = np.linspace(0.0, 1.0, 101), np.random.default_rng(1)
    runs, masses = [], (1.98, 2.0, 2.02)
    for k, mass in enumerate(masses):
        bound = system.bind({"bob.mass": mass})
        spin = mb.simulate(bound, mb.initial_state(bound), ts)["pin.spin"] + 1e-4 * random.normal(size=ts.size)
        recording = ident.Recording(ts, {"spin": np.asarray(spin)})
        runs.append(ident.Experiment(f"run {k}", recording, [ident.Compared("pin.spin", "spin", sigma=1e-4)]))
    problem = ident.Problem(mechanism, [ident.Parameter("mass", "bob.mass")], runs)
    result = ident.fit(problem)
    found = ident.repeats(problem, result)
    np.testing.assert_allclose(found.x[:, 0], masses, atol=4 * float(found.stderr.max()))
    np.testing.assert_allclose(found.spread, 0.02, rtol=0.1)
    assert found.ratio[0] > 10 and "more than the noise explains" in str(found)
    again = ident.Repeats.from_dict(json.loads(json.dumps(found.to_dict())))
    ident.write_report(problem, result, tmp_path / "report.html", spread=again)
    page = (tmp_path / "report.html").read_text()
    assert "From run to run" in page and f"{found.mean[0]:.6g}" in page and 'class="n bad"' in page
    with pytest.raises(ident.StudyError, match="at least two experiments"):
        ident.repeats(problem.held_out(["run 1", "run 2"]), ident.fit(problem))
