"""Writing files so that a crash never leaves half of one."""

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
        finally:
            # Still there after an error, a full disk included: nothing half-written is left behind.
            pathlib.Path(self.temporary).unlink(missing_ok=True)
