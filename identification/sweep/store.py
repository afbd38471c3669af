"""The files of a sweep: a manifest, one file per chunk, and what is merged from them.

A chunk file appears whole or not at all, and carries the digest of its own numbers: one that was damaged is computed
again. The order of chunks and their size are fixed by the manifest, so a sweep that was killed and resumed, or spread
over machines, ends in the same bits as one that was not.
"""

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import time

import numpy as np

from mbjax.files import Atomic

from ..errors import StudyError
from .result import SweepResult, as_texts
from .samples import Samples

_FORMAT = "mbjax sweep 1"
_NOTE = "shard-{}-of-{}.failed"
_PAUSE = 0.2  # s, between two looks at a folder
ARRAYS = ("measures", "channels", "code", "time", "steps", "reason")


@dataclasses.dataclass(frozen=True)
class Status:
    """How far a sweep is."""

    folder: str
    chunks: int
    done: tuple[int, ...]
    damaged: tuple[int, ...]
    variants: int
    failed: int  # among those done

    def __str__(self):
        text = f"{self.folder}: {len(self.done)} of {self.chunks} chunks done ({self.variants} variants in all)"
        text += f", {self.failed} variants failed so far"
        return text + (f"; damaged chunks, to be computed again: {list(self.damaged)}" if self.damaged else "")


class Store:
    """The folder of one sweep."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @property
    def manifest_path(self):
        return self.folder / "manifest.json"

    def chunk_path(self, index):
        return self.folder / f"chunk-{index:05d}.npz"

    def open(self, manifest, samples):
        """Write the manifest and the samples, or check that those of the folder are the same."""
        if self.manifest_path.exists():
            known = self.read_manifest()
            different = sorted(k for k in {*known, *manifest} if known.get(k) != manifest.get(k))
            if different:
                raise StudyError(
                    f"{self.manifest_path}: this folder belongs to another sweep (different: {', '.join(different)}). "
                    "Choose another folder, or delete this one."
                )
            return
        axes = {f"axis_{k}": a for k, a in enumerate(samples.axes or ())}
        self._write(self.folder / "samples.npz", "wb", lambda f: np.savez(f, values=samples.values, **axes))
        self._write(self.manifest_path, "w", lambda f: json.dump(manifest, f, indent=1))

    def read_manifest(self):
        try:
            table = json.loads(self.manifest_path.read_text())
        except (OSError, ValueError) as error:
            raise StudyError(f"{self.manifest_path}: no sweep can be read here ({error}).") from None
        if table.get("format") != _FORMAT:
            raise StudyError(f"{self.manifest_path}: this is not a manifest of a sweep.")
        return table

    def read_samples(self, manifest):
        with np.load(self.folder / "samples.npz", allow_pickle=False) as data:
            axes = tuple(data[f"axis_{k}"] for k in range(len(data.files) - 1)) or None
            return Samples(tuple(manifest["paths"]), data["values"], axes)

    @contextlib.contextmanager
    def telling_failure(self, shard):
        """Leave a note for those who wait for this shard, if it ends with an error."""
        path = self.folder / _NOTE.format(*shard)
        path.unlink(missing_ok=True)
        try:
            yield
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
            with contextlib.suppress(StudyError):
                self._write(path, "w", lambda f: f.write(said))
            raise

    def failures(self):
        """What the shards that ended with an error have said."""
        return [f"{p.stem}: {p.read_text()}" for p in sorted(self.folder.glob(_NOTE.format("*", "*")))]

    def write_chunk(self, index, arrays):
        self._write(self.chunk_path(index), "wb", lambda f: np.savez(f, digest=np.array(_digest(arrays)), **arrays))

    def read_chunk(self, index):
        """The arrays of a chunk; None if it is not there; raises StudyError if it is damaged."""
        path = self.chunk_path(index)
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as data:
                arrays = {k: data[k] for k in ARRAYS}
                good = str(data["digest"]) == _digest(arrays)
        except Exception as error:  # a damaged zip can raise nearly anything
            raise StudyError(f"{path}: damaged ({type(error).__name__}).") from None
        if not good:
            raise StudyError(f"{path}: damaged (its digest does not fit its numbers).")
        return arrays

    def _write(self, path, mode, put):
        try:
            with Atomic(path, mode) as file:
                put(file)
        except OSError as error:
            raise StudyError(
                f"{path}: cannot be written ({error.strerror or error}). Chunks that are complete are safe; the same "
                "sweep goes on from them once this is cured."
            ) from None


def _digest(arrays):
    found = hashlib.sha256()
    for name in ARRAYS:
        found.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def make_manifest(key, samples, labels, channels, ts, chunk):
    """What identifies a sweep, as plain JSON."""
    return {
        "format": _FORMAT,
        "key": key,
        "paths": list(samples.paths),
        "samples": samples.digest,
        "variants": len(samples),
        "labels": list(labels),
        "channels": list(channels),
        "ts": [float(t) for t in ts],
        "chunk": chunk,
        "chunks": -(-len(samples) // chunk),
    }


def status(folder):
    """How far the sweep in a folder is."""
    store = Store(folder)
    manifest = store.read_manifest()
    done, damaged, failed = [], [], 0
    for k in range(manifest["chunks"]):
        try:
            arrays = store.read_chunk(k)
        except StudyError:
            damaged.append(k)
            continue
        if arrays is not None:
            done.append(k)
            failed += int((arrays["code"] != 0).sum())
    return Status(str(folder), manifest["chunks"], tuple(done), tuple(damaged), manifest["variants"], failed)


def merge(folder, *, write=True, wait=0.0):
    """All chunks of a folder as one `SweepResult`; `write` puts it into `sweep.npz` and `sweep.json` as well.

    `wait`: how long (s) to wait for chunks that other processes are still at; a shard that ends with an error ends the
    waiting at once.
    """
    store = Store(folder)
    manifest = store.read_manifest()
    until = time.monotonic() + wait
    while time.monotonic() < until and not all(store.chunk_path(k).exists() for k in range(manifest["chunks"])):
        failures = store.failures()
        if failures:
            raise StudyError(f"{folder}: another process failed ({'; '.join(failures)}).")
        time.sleep(_PAUSE)
    parts, missing = [], []
    for k in range(manifest["chunks"]):
        arrays = store.read_chunk(k)
        missing.extend([k] if arrays is None else [])
        parts.append(arrays and {**arrays, "reason": as_texts(arrays["reason"])})
    if missing:
        raise StudyError(
            f"{folder}: chunks {missing[:8]} of {manifest['chunks']} are missing; run the sweep to its end."
        )
    arrays = {name: np.concatenate([p[name] for p in parts]) for name in ARRAYS}
    result = SweepResult.of(
        store.read_samples(manifest), manifest["labels"], manifest["channels"], manifest["ts"], arrays
    )
    if write:
        result.save(folder)
        for left in store.folder.glob(".chunk-*"):  # half-written when a process was killed
            left.unlink(missing_ok=True)
    return result
