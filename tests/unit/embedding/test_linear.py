from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import torch

from pgclarify.embedding.linear import bound_caches

pytestmark = pytest.mark.slow


def _kilobytes() -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


def _growth_over_shapes() -> int:
    """Kilobytes that this process grows by over 500 shapes of input to layers of oneDNN."""
    torch.set_num_threads(1)
    bound_caches()
    rows_of_weights = torch.ops.mkldnn._reorder_linear_weight(torch.rand(256, 64), None)
    with torch.inference_mode():
        before = 0
        for rows in range(1, 502):
            torch.ops.mkldnn._linear_pointwise(torch.rand(rows, 64), rows_of_weights, None, "none", [], "")
            before = before or _kilobytes()
    return _kilobytes() - before


def test_memory_does_not_grow_with_shapes_of_input() -> None:
    # A process of its own, since the bounds are read once in each. Without them it grows by over 300 MB.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_growth_over_shapes) < 50_000
