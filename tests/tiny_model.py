"""A language model of 100 kB with random weights, as a GGUF file: enough for llama.cpp to load it and write tokens."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

_WIDTH = 32
_TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
_U32, _I32, _F32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_UNKNOWN, _CONTROL, _BYTE = 2, 3, 6
_ALIGNMENT = 32


def write_tiny_model(path: Path) -> None:
    """Write the file: one layer of the llama architecture, whose tokens are bytes."""
    number, small, text = ("<I", _U32), ("<f", _F32), (None, _STRING)
    values: list[tuple[str, tuple[str | None, int], object]] = [
        ("general.architecture", text, "llama"),
        ("llama.context_length", number, 16384),
        ("llama.embedding_length", number, _WIDTH),
        ("llama.block_count", number, 1),
        ("llama.feed_forward_length", number, _WIDTH),
        ("llama.attention.head_count", number, 2),
        ("llama.attention.layer_norm_rms_epsilon", small, 1e-5),
        ("tokenizer.ggml.model", text, "llama"),
        ("tokenizer.ggml.tokens", text, _TOKENS),
        ("tokenizer.ggml.scores", small, [0.0] * len(_TOKENS)),
        ("tokenizer.ggml.token_type", ("<i", _I32), [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256]),
        ("tokenizer.ggml.bos_token_id", number, 1),
        ("tokenizer.ggml.eos_token_id", number, 2),
        # A space before the first word would not fit the grammar of a schema.
        ("tokenizer.ggml.add_space_prefix", ("<?", _BOOL), False),
    ]
    square, vocabulary = (_WIDTH, _WIDTH), (len(_TOKENS), _WIDTH)
    shapes = {"token_embd": vocabulary, "output": vocabulary, "output_norm": (_WIDTH,)}
    shapes |= {f"blk.0.{norm}_norm": (_WIDTH,) for norm in ("attn", "ffn")}
    names = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes |= {f"blk.0.{name}": square for name in names}

    header = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(values))
    for name, kind, value in values:
        header += _text(name) + _value(kind, value)
    weights, random = b"", np.random.default_rng(1)
    for name, shape in shapes.items():
        # The file has the fastest dimension first. 0 means float32.
        dimensions = struct.pack(f"<{len(shape)}Q", *reversed(shape))
        header += _text(f"{name}.weight") + struct.pack("<I", len(shape)) + dimensions
        header += struct.pack("<IQ", 0, len(weights))
        weights += random.normal(size=shape).astype(np.float32).tobytes()
    path.write_bytes(header + bytes(-len(header) % _ALIGNMENT) + weights)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _value(kind: tuple[str | None, int], value: object) -> bytes:
    form, number = kind

    def plain(one: object) -> bytes:
        return _text(str(one)) if form is None else struct.pack(form, one)

    if isinstance(value, list):
        return struct.pack("<IIQ", _ARRAY, number, len(value)) + b"".join(map(plain, value))
    return struct.pack("<I", number) + plain(value)
