"""Settings of JAX that a program must make for itself and a library must not: 64 bits, and a compilation cache."""

import pathlib
import warnings

from ..errors import ModelWarning


def cache_folder():
    """Where compiled programs are kept between runs."""
    return pathlib.Path.home() / ".cache" / "mbjax"


def prepare():
    """Switch on 64-bit floats and the compilation cache; returns the cache folder, or None where there is none."""
    import jax

    jax.config.update("jax_enable_x64", True)
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        warnings.warn(f"No compilation cache: {folder}: {error.strerror}.", ModelWarning, stacklevel=2)
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # Also the small programs: there are many of them, and together they take longer than the large ones.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    return folder


def versions():
    """Versions of Python and of the packages that decide the numbers."""
    import platform
    from importlib import metadata

    found = {"python": platform.python_version(), "mbjax": _own_version()}
    for package in ("jax", "jaxlib", "diffrax", "equinox", "optimistix", "numpy"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed as a package"
    return found


def _own_version():
    """The installed version, or that of the checkout's pyproject.toml."""
    import tomllib
    from importlib import metadata

    try:
        return metadata.version("mbjax")
    except metadata.PackageNotFoundError:
        file = pathlib.Path(__file__).parents[2] / "pyproject.toml"
        return tomllib.loads(file.read_text())["project"]["version"] + " (checkout)" if file.exists() else "unknown"
