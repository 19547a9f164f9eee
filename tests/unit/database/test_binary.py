"""Values that are read in PostgreSQL's binary format."""

from __future__ import annotations

import math
import struct
from random import Random

import numpy as np
import psycopg

from pgclarify.database.binary import _RealLoader


def test_a_real_is_read_as_the_number_that_postgresql_writes() -> None:
    loader = _RealLoader(psycopg.adapters.types["float4"].oid)
    drawn = Random(1)  # noqa: S311 - not for secrets
    samples = [0.87, 0.1, -1.5, 0.0, 16777216.0, 3.4028234e38, 1.2e-38, math.inf, -math.inf]
    samples += [struct.unpack("!f", drawn.randbytes(4))[0] for _ in range(2000)]
    for sample in samples:
        sent = struct.pack("!f", sample)
        read = loader.load(sent)
        if math.isnan(sample):
            assert math.isnan(read)
        else:
            assert struct.pack("!f", read) == sent
            # Below, a real has fewer digits than it is read with.
            assert abs(sample) < 1e-37 or read == float(str(np.float32(sample)))
