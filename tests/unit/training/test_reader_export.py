from __future__ import annotations

import numpy as np
from safetensors.numpy import load

from training.reader.export import pack, quantize, unpack


def test_multiples_of_a_scale_are_within_half_of_it() -> None:
    matrix = np.random.default_rng(0).normal(size=(8, 50)).astype(np.float32)
    matrix[2] *= 1000
    matrix[3] = 0

    multiples, scales = quantize(matrix)

    assert multiples.dtype == np.int8
    assert scales.shape == (8, 1)
    assert np.all(np.abs(multiples * scales - matrix) <= scales * 0.5001)
    assert np.abs(multiples).max(axis=1).tolist() == [127, 127, 127, 0, 127, 127, 127, 127]


def test_matrices_of_the_encoder_are_quantized_and_nothing_else() -> None:
    chance = np.random.default_rng(0)
    name = "encoder.layer.0.attention.self.query"
    weights = {
        f"{name}.weight": chance.normal(size=(4, 4)).astype(np.float32),
        f"{name}.bias": chance.normal(size=4).astype(np.float32),
        "span.weight": chance.normal(size=(2, 4)).astype(np.float32),
    }

    packed = load(pack(weights))

    assert {of: tensor.dtype.name for of, tensor in packed.items()} == {
        f"{name}.weight": "int8",
        f"{name}.scale": "float32",
        f"{name}.bias": "float32",
        "span.weight": "float32",
    }
    assert np.array_equal(packed["span.weight"], weights["span.weight"])
    assert pack(weights) == pack(weights)
    unpacked = unpack(pack(weights))
    assert {of: (weight.dtype.name, weight.shape) for of, weight in unpacked.items()} == {
        of: ("float32", weight.shape) for of, weight in weights.items()
    }
    for of, weight in weights.items():
        scale = packed[f"{name}.scale"] if weight.ndim == 2 and of.startswith("encoder.") else 0
        assert np.all(np.abs(unpacked[of] - weight) <= scale * np.float32(0.5001))
