"""Linear layers in bfloat16 or 8-bit integers, for those who ask for them by the setting embedding_backend.

They use operators of torch's own, which its public modules lack and which may change; a build of torch without them is
an error that says so. What stands between the layers stays float32. In float32 torch computes by itself: with its own
operators of oneDNN, embedding took as much CPU time or a few percent more.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from pgclarify.config import EmbeddingBackend
from pgclarify.errors import ConfigurationError

# torch and oneDNN each keep what they have prepared for the last 1,024 shapes of input: half a gigabyte, and no faster,
# since batches of text hardly ever have the same shape. Both read this before the first multiplication.
_CACHES = ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY")
_CACHED_SHAPES = "16"
_UINT8_ZERO = 128
_LARGEST_INT8 = 127
# A row of zeros is not divided by zero.
_SMALLEST_SCALE = 1e-30


class _BFloat16Linear(torch.nn.Module):
    """A linear layer whose factors are rounded to bfloat16; sums are float32, and rounded at the end."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.weight = linear.weight
        self.bias = linear.bias
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach().bfloat16(), None)
        self._rounded_bias = None if linear.bias is None else linear.bias.detach().bfloat16()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply rows of float32 with the weights and add the bias."""
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            rows.bfloat16(), self._packed, self._rounded_bias, "none", [], ""
        )
        return result.float()


class _Int8Linear(torch.nn.Module):
    """A linear layer in 8-bit integers, with a scale for each row of the input and each output.

    With one scale for a whole batch, as is common, its largest number would set the precision of all others, and the
    texts of a batch would change each other's vectors.
    """

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.weight = linear.weight
        self.bias = linear.bias
        weight = linear.weight.detach()
        self._scales = (weight.abs().amax(1) / _LARGEST_INT8).clamp_(min=_SMALLEST_SCALE)
        quantized = (weight / self._scales[:, None]).round_().to(torch.int8)
        self._packed = torch.ops.onednn.qlinear_prepack(quantized, None)
        self._zeros = torch.zeros(len(weight), dtype=torch.int32)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply rows of float32 with the weights and add the bias."""
        scales = rows.abs().amax(-1, keepdim=True).div_(_LARGEST_INT8).clamp_(min=_SMALLEST_SCALE)
        # Cutting off what is behind the point rounds, since a half was added.
        quantized = (rows / scales).add_(_UINT8_ZERO + 0.5).to(torch.uint8)
        result: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
            quantized,
            1.0,
            _UINT8_ZERO,
            self._packed,
            self._scales,
            self._zeros,
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return result.mul_(scales) if self.bias is None else torch.addcmul(self.bias, result, scales)


@dataclass(frozen=True)
class _Kind:
    """One kind of layer.

    tolerance: Most that a layer's output may be off, relative to its largest number; beyond it the layer is left as it
        is. Two precisions differ by less.
    instructions: One of these makes the processor fast at it, and right: older ones overflow with 8 bits.
    """

    layer: type[_BFloat16Linear | _Int8Linear]
    tolerance: float
    instructions: frozenset[str]


_KINDS = {
    EmbeddingBackend.BFLOAT16: _Kind(_BFloat16Linear, 0.02, frozenset({"avx512_bf16", "amx_bf16"})),
    EmbeddingBackend.INT8: _Kind(_Int8Linear, 0.05, frozenset({"avx512_vnni", "avx_vnni"})),
}


def bound_caches() -> None:
    """Keep torch from caching a thousand shapes of input; before its first multiplication."""
    for name in _CACHES:
        os.environ.setdefault(name, _CACHED_SHAPES)


def runs_here(backend: EmbeddingBackend) -> bool:
    """Whether this processor has the instructions for a backend."""
    if not backend.is_rounded:
        return True
    return any(torch.cpu.get_capabilities().get(name) for name in _KINDS[backend].instructions)


def use_onednn(model: torch.nn.Module, backend: EmbeddingBackend) -> int:
    """Replace the linear layers of a model, in place.

    Args:
        model: On the CPU; it must not be trained afterwards.
        backend: Precision of the new layers, lower than torch's. A layer that loses too much in it stays.

    Returns:
        How many were replaced.

    Raises:
        ConfigurationError: If the processor, this build of torch or the model is not made for it.
    """
    if not runs_here(backend):
        raise _unusable(backend, f"The processor has none of the instructions {_instructions(backend)}.")
    try:
        replaced = _replace(model, _KINDS[backend])
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        raise _unusable(backend, f"This build of torch says: {str(error).splitlines()[0]}") from error
    if not replaced:
        raise _unusable(backend, "The embedding model has no linear layer that can be computed so.")
    return replaced


def _replace(model: torch.nn.Module, kind: _Kind) -> int:
    replaced = 0
    with torch.inference_mode():
        for parent in list(model.modules()):
            for name, layer in list(parent.named_children()):
                # Of no subclass: those do more than multiply.
                if type(layer) is torch.nn.Linear and layer.weight.dtype is torch.float32:
                    faster = kind.layer(layer)
                    if _agree(layer, faster, kind.tolerance):
                        setattr(parent, name, faster)
                        replaced += 1
    return replaced


def _agree(layer: torch.nn.Linear, faster: torch.nn.Module, tolerance: float) -> bool:
    probe = torch.linspace(-1, 1, 2 * layer.in_features).view(1, 2, layer.in_features)
    expected = layer(probe)
    return bool((faster(probe) - expected).abs().max() <= tolerance * expected.abs().max())


def _instructions(backend: EmbeddingBackend) -> str:
    return ", ".join(sorted(_KINDS[backend].instructions))


def _unusable(backend: EmbeddingBackend, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the embedding backend {backend} cannot be used here",
        detail=why,
        hint=f"Set PGCLARIFY_EMBEDDING_BACKEND={EmbeddingBackend.AUTO}, which runs everywhere.",
    )
