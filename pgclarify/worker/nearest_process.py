"""A process that finds the nearest neighbors of many vectors. Its memory and threads are freed when it ends.

python -m pgclarify.worker.nearest_process COUNT DIMENSIONS DEPTH THREADS reads at most COUNT vectors, one behind the
other, as PostgreSQL sends halfvec, and END. It writes, as numbers of this machine, the places of the neighbors of each
(int32, DEPTH of them, nearest first, -1 where there is none), and then their similarities (float32).
"""

from __future__ import annotations

import os
import signal
import sys
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.nearest import nearest

# Follows the last vector. If it is missing, the worker has died during the transfer.
END = b"end."
_VECTORS_A_READ = 1000
# Runs and searches go first. With a higher value, a worker that embeds all day would leave no CPU time for this
# process.
_NICENESS = 5


def main(arguments: list[str], source: BinaryIO, target: BinaryIO) -> None:
    """Read, compute and write.

    Raises:
        ValueError: If there are more vectors than COUNT, or they do not end with END.
    """
    count, dimensions, depth, threads = map(int, arguments)
    # The system allocates memory only when it is written.
    vectors = np.empty((count, dimensions), dtype=np.float32)
    places = np.empty(count, dtype=np.int32)
    # Four bytes have the length of a vector. Its numbers are big-endian.
    record = np.dtype([("header", ">u4"), ("vector", ">f2", (dimensions,))])
    read = kept = 0
    is_whole = False
    while data := source.read(_VECTORS_A_READ * record.itemsize):
        # A whole vector never has this length, because it has four bytes more than its numbers.
        is_whole = len(data) % record.itemsize == len(END) and data.endswith(END)
        data = data.removesuffix(END) if is_whole else data
        some = np.frombuffer(data, dtype=record)["vector"].astype(np.float32)
        lengths = np.linalg.norm(some, axis=1)
        # A zero vector has no neighbors.
        are_kept = lengths > 0
        ended = kept + int(are_kept.sum())
        vectors[kept:ended] = some[are_kept] / lengths[are_kept, np.newaxis]
        places[kept:ended] = read + np.flatnonzero(are_kept)
        read += len(some)
        kept = ended
    if not is_whole:
        raise ValueError("the vectors end in the middle")
    near, similarities = nearest(vectors[:kept], depth, threads=threads)
    _write(target, read, places[:kept], np.where(near < 0, -1, places[near]), -1)
    _write(target, read, places[:kept], similarities, -np.inf)


def _write(
    target: BinaryIO,
    count: int,
    places: NDArray[np.int32],
    of_kept: NDArray[np.int32] | NDArray[np.float32],
    missing: float,
) -> None:
    rows = np.full((count, of_kept.shape[1]), missing, dtype=of_kept.dtype)
    rows[places] = of_kept
    target.write(rows.data)


if __name__ == "__main__":
    # A terminal sends SIGINT to all its processes. The worker ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer)
