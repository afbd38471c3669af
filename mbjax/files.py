"""Writing files so that a crash never leaves half of one."""

import contextlib
import os
import pathlib
import tempfile


class Atomic:
    """A file that appears under its name only when it is complete."""

    def __init__(self, path, mode, **options):
        self.path = pathlib.Path(path)
        self.mode, self.options = mode, options

    def __enter__(self):
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        handle, self.temporary = tempfile.mkstemp(dir=folder, prefix=f".{self.path.name}.")
        self.file = os.fdopen(handle, self.mode, **self.options)
        return self.file

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self.file.flush()
                os.fsync(self.file.fileno())
            self.file.close()
            if kind is None:
                os.chmod(self.temporary, 0o644)
                os.replace(self.temporary, self.path)
        except OSError as full:
            raise self._named(full) from None
        finally:
            # After an error, a full disk included, it is still open and there: nothing half-written is left behind.
            with contextlib.suppress(OSError):
                self.file.close()
            pathlib.Path(self.temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            self._named(error)

    def _named(self, error):
        """A write to a full disk does not say by itself which file it was."""
        if error.filename is None:
            error.filename = str(self.path)
        return error
