"""The static part of a system: names, sizes and index tables, made once in NumPy. No physical number lives here."""

import dataclasses
import hashlib

import numpy as np


class Structure:
    """Hashable by content: two systems assembled from the same topology share one compilation."""

    def __init__(self, **tables):
        self.__dict__.update(tables)
        digest = hashlib.sha256()
        for name in sorted(tables):
            digest.update(name.encode())
            digest.update(_bytes(tables[name]))
        self.key = digest.hexdigest()

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return isinstance(other, Structure) and self.key == other.key

    def __repr__(self):
        return f"Structure({', '.join(self.body_names)}; {len(self.row_labels)} rows; {self.key[:8]})"

    def replace(self, **changes):
        tables = {k: v for k, v in self.__dict__.items() if k != "key"}
        return Structure(**{**tables, **changes})


def _bytes(value):
    if isinstance(value, np.ndarray):
        return repr((value.shape, str(value.dtype))).encode() + value.tobytes()
    if dataclasses.is_dataclass(value):
        return b"".join(_bytes(getattr(value, f.name)) for f in dataclasses.fields(value))
    if isinstance(value, tuple | list):
        return b"(" + b",".join(_bytes(v) for v in value) + b")"
    return repr(value).encode()


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where each constraint row sits in the solver: block-tridiagonal order and the gathers that fill the blocks.

    A *slot* is one row as seen from one body; slots are stacked per body and padded to the longest body.
    """

    order: np.ndarray  # (kept,) row numbers in solver order
    slots: np.ndarray  # (bodies, k) index into the 2 x rows list of row sides, `2 rows` = none
    row_slots: np.ndarray  # (padded, 2) flat slot of either side of each solver row, `bodies * k` = none
    slot_rows: np.ndarray  # (bodies, k) solver row of each slot, `padded` = none
    diagonal: np.ndarray  # (2, blocks, size, size) flat index of slot pairs, `bodies * k * k` = zero
    lower: np.ndarray  # (2, blocks - 1, size, size)
    padding: np.ndarray  # (blocks, size) 1 where a row only fills up the last block

    @property
    def blocks(self):
        return self.diagonal.shape[1]

    @property
    def size(self):
        return self.diagonal.shape[2]


def make_layout(bodies, row_bodies, order, block=None):
    """Layout of the kept rows `order` (already sorted to a small bandwidth).

    `row_bodies` (rows, 2) are the bodies of each row; index `bodies` is ground. One block (dense) unless the band is
    narrow enough to pay.
    """
    order = np.asarray(order, dtype=np.int64)
    rows, kept = len(row_bodies), len(order)
    touching = [[] for _ in range(bodies)]
    for position, row in enumerate(order):
        for side in (0, 1):
            if row_bodies[row][side] < bodies:
                touching[row_bodies[row][side]].append((position, row, side))
    width = max([len(t) for t in touching], default=0)
    if block is None:
        reach = max([t[-1][0] - t[0][0] for t in touching if t], default=0)
        block = kept if kept <= 48 or reach + 1 > kept // 3 else max(reach, 1)
    blocks = max(-(-kept // block), 1) if kept else 1
    size = block if kept else 0
    padded = blocks * size
    slots = np.full((bodies, width), 2 * rows, dtype=np.int64)
    slot_rows = np.full((bodies, width), padded, dtype=np.int64)
    row_slots = np.full((padded, 2), bodies * width, dtype=np.int64)
    none = bodies * width * width
    diagonal = np.full((2, blocks, size, size), none, dtype=np.int64)
    lower = np.full((2, max(blocks - 1, 0), size, size), none, dtype=np.int64)
    used = np.zeros((padded, padded), dtype=np.int64) if padded else np.zeros((0, 0), dtype=np.int64)
    for body, entries in enumerate(touching):
        for k, (position, row, side) in enumerate(entries):
            slots[body, k] = 2 * row + side
            slot_rows[body, k] = position
            row_slots[position, side] = body * width + k
        for k, (p, _, _) in enumerate(entries):
            for other, (r, _, _) in enumerate(entries):
                if r > p and p // size != r // size:
                    continue  # the upper block is the transpose of the lower one
                flat = (body * width + k) * width + other
                if p // size == r // size:
                    diagonal[used[p, r], p // size, p % size, r % size] = flat
                else:
                    assert p // size == r // size + 1, "rows of one body lie more than a block apart"
                    lower[used[p, r], r // size, p % size, r % size] = flat
                used[p, r] += 1
    padding = (np.arange(padded) >= kept).astype(float).reshape(blocks, size)
    return Layout(order, slots, row_slots, slot_rows, diagonal, lower, padding)


def narrow_order(bodies, row_bodies, groups):
    """Rows ordered so that those of neighbouring connections lie close together (Cuthill-McKee on connections).

    `groups` (rows,) is the connection of each row; the starting connection is the far end of a breadth-first walk.
    """
    neighbours = {}
    for row, group in enumerate(groups):
        neighbours.setdefault(group, set()).update(int(b) for b in row_bodies[row] if b < bodies)
    adjacency = {g: {h for h in neighbours if h != g and neighbours[g] & neighbours[h]} for g in neighbours}
    done, order = set(), []
    for start in sorted(neighbours, key=lambda g: (len(adjacency[g]), g)):
        if start in done:
            continue
        far = _walk(start, adjacency, done)[-1]
        walk = _walk(far, adjacency, done)
        done.update(walk)
        order.extend(walk)
    rank = {g: k for k, g in enumerate(order)}
    return sorted(range(len(groups)), key=lambda r: (rank[groups[r]], r))


def _walk(start, adjacency, done):
    seen, queue = [start], [start]
    visited = {start} | set(done)
    while queue:
        node = queue.pop(0)
        for neighbour in sorted(adjacency[node] - visited, key=lambda g: (len(adjacency[g]), g)):
            visited.add(neighbour)
            seen.append(neighbour)
            queue.append(neighbour)
    return seen
