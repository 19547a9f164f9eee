"""Writes the trained file of the ambiguity classifier; `pgclarify.algorithms.ambiguity.shipped` reads it."""

from __future__ import annotations

import io
import zipfile
from dataclasses import fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.shipped import WITHIN, Part, Trained

# Smaller arrays keep their full precision.
_SMALL: Final = 512
_LARGEST: Final = 127
_LEAST_STEP: Final = 1e-6


def pack(trained: Trained) -> bytes:
    """Write the trained weights as a small npz archive. Equal weights give equal bytes.

    Examples are stored as bytes, other large arrays in half precision.
    """
    arrays: dict[str, NDArray[Any]] = {"names": np.array("\n".join(WITHIN))}
    for name, array in _arrays(trained).items():
        if name.endswith("_examples"):
            largest = np.abs(array).max(axis=0)
            steps = np.maximum(largest, _LEAST_STEP) / _LARGEST
            arrays[name] = np.round(array / steps).astype(np.int8)
            arrays[f"{name}_steps"] = steps
        else:
            precision = np.float16 if array.size > _SMALL else np.float32
            arrays[name] = array.astype(precision)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            # numpy's savez would write the time of day, and the bytes would differ each time.
            entry = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(entry, member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _arrays(trained: Trained) -> dict[str, NDArray[np.float32]]:
    arrays: dict[str, NDArray[np.float32]] = {}
    for field in fields(Trained):
        value = getattr(trained, field.name)
        if isinstance(value, Part):
            for inner in fields(Part):
                arrays[f"{field.name}_{inner.name}"] = getattr(value, inner.name)
        else:
            arrays[field.name] = value
    return arrays
