"""The file of a trained reader: the matrices of the encoder with 8 bits a number, everything else as float32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

_LARGEST: Final = 127


def quantize(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round the numbers of each row to multiples of a scale. The row's largest number is 127 times the scale.

    Args:
        matrix: Shape (out, in).

    Returns:
        The multiples, int8, shape (out, in), in [-127, 127], and the scales, float32, shape (out, 1). Multiples times
        scales are the matrix, each number within half a scale.
    """
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    # Avoids a division by zero for a row of zeros.
    scales = np.maximum(largest, np.finfo(np.float32).tiny) / np.float32(_LARGEST)
    return np.clip(np.rint(matrix / scales), -_LARGEST, _LARGEST).astype(np.int8), scales.astype(np.float32)


def pack(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Make a safetensors file: the same bytes from the same weights.

    Args:
        weights: By name, as `Reader.weights` gives them. A matrix of the encoder, NAME.weight, is quantized:
            NAME.weight has its multiples, and NAME.scale its scales. The heads stay float32: they are small.
    """
    tensors: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if name.startswith("encoder.") and weight.ndim == 2:
            tensors[name], tensors[f"{name.removesuffix('.weight')}.scale"] = quantize(weight)
        else:
            tensors[name] = np.ascontiguousarray(weight)
    return save(tensors)


def unpack(content: bytes) -> dict[str, NDArray[np.float32]]:
    """Read a file that `pack` made: weights by name, those of matrices as multiples times scales."""
    tensors = load(content)
    scales = {
        f"{name.removesuffix('.scale')}.weight": tensors.pop(name) for name in [*tensors] if name.endswith(".scale")
    }
    return {name: tensor * scales.get(name, np.float32(1)) for name, tensor in tensors.items()}
