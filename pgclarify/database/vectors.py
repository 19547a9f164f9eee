"""Writes vectors as text for PostgreSQL."""

from __future__ import annotations

from struct import pack, unpack

import numpy as np
from numpy.typing import NDArray


def vector_text(vector: NDArray[np.float32]) -> str:
    """Write a vector as the type halfvec reads it: five digits identify every half-precision number."""
    return f"[{','.join(map(_WRITTEN.__getitem__, vector.astype('float16').view('uint16').tolist()))}]"


class _Written(dict[int, str]):
    """A cache of half-precision numbers as text, by their bits: there are few, and formatting is slow."""

    def __missing__(self, bits: int) -> str:
        written = self[bits] = f"{unpack('=e', pack('=H', bits))[0]:.5g}"
        return written


_WRITTEN = _Written()
