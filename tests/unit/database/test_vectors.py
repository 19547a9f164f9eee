from __future__ import annotations

import numpy as np
from pgvector import HalfVector

from pgclarify.database.vectors import vector_text


def test_every_number_of_half_precision_survives_as_text() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    read = HalfVector.from_text(vector_text(finite.astype(np.float32))).to_numpy()
    np.testing.assert_array_equal(read.view(np.uint16), finite.view(np.uint16))
