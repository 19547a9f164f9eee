"""The network: the encoder of all-MiniLM-L6-v2 (BERT; Devlin et al., 2019), a head for spans, one for answerability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pgclarify_minilm
import torch
import torch.nn.functional as F  # noqa: N812 - as PyTorch's own pages do
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn

_WIDTH: Final = 384
_HEADS: Final = 12
_LAYERS: Final = 6
_EPSILON: Final = 1e-12
# Added to the scores of padding, so that its share of the attention is 0.
_MASKED: Final = -10000.0
_PROJECTIONS: Final = ("query", "key", "value")
_EMBEDDED_AT_ONCE: Final = 64


class _Linear(nn.Module):
    """A linear layer that computes in the precision of its input; its weights keep full precision."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.clone())
        self.bias = nn.Parameter(bias.clone())

    def forward(self, inputs: Tensor) -> Tensor:
        return F.linear(inputs, self.weight.to(inputs.dtype), self.bias.to(inputs.dtype))


class _Norm(_Linear):
    """Layer normalization in the precision of its input."""

    def forward(self, inputs: Tensor) -> Tensor:
        weight, bias = self.weight.to(inputs.dtype), self.bias.to(inputs.dtype)
        return F.layer_norm(inputs, (_WIDTH,), weight, bias, _EPSILON)


class _Layer(nn.Module):
    def __init__(self, published: Mapping[str, Tensor], name: str) -> None:
        super().__init__()

        def weights(part: str) -> tuple[Tensor, Tensor]:
            return published[f"{name}.{part}.weight"], published[f"{name}.{part}.bias"]

        projections = [weights(f"attention.self.{projection}") for projection in _PROJECTIONS]
        # One matrix product instead of three.
        self.projections = _Linear(*(torch.cat(of_all) for of_all in zip(*projections, strict=True)))
        self.attention_output = _Linear(*weights("attention.output.dense"))
        self.attention_norm = _Norm(*weights("attention.output.LayerNorm"))
        self.intermediate = _Linear(*weights("intermediate.dense"))
        self.output = _Linear(*weights("output.dense"))
        self.output_norm = _Norm(*weights("output.LayerNorm"))

    def forward(self, hidden: Tensor, penalty: Tensor) -> Tensor:
        texts, tokens, _ = hidden.shape
        by_head = self.projections(hidden).view(texts, tokens, 3, _HEADS, _WIDTH // _HEADS)
        query, key, value = by_head.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) * (_WIDTH // _HEADS) ** -0.5 + penalty
        read = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(texts, tokens, _WIDTH)
        hidden = self.attention_norm(hidden + self.attention_output(read))
        normalized: Tensor = self.output_norm(hidden + self.output(F.gelu(self.intermediate(hidden))))
        return normalized

    def named(self) -> dict[str, _Linear]:
        return {
            "attention.output.dense": self.attention_output,
            "attention.output.LayerNorm": self.attention_norm,
            "intermediate.dense": self.intermediate,
            "output.dense": self.output,
            "output.LayerNorm": self.output_norm,
        }


class Reader(nn.Module):
    """The reader before training: the published encoder, and random heads from a seed.

    Args:
        seed: The seed of the heads.
        precision: The precision of activations.
        trained: Weights of a trained reader by name, to continue from; they replace the published ones and the heads.

    Attributes:
        precision: The precision of activations. Weights are float32.
    """

    word_embeddings: Tensor
    position_embeddings: Tensor
    token_type_embeddings: Tensor
    norm_weight: Tensor
    norm_bias: Tensor

    def __init__(
        self, *, seed: int, precision: torch.dtype, trained: Mapping[str, NDArray[np.float32]] | None = None
    ) -> None:
        super().__init__()
        self.precision = precision
        published = load_file(pgclarify_minilm.FOLDER / "model.safetensors")
        published |= {name: torch.from_numpy(weight) for name, weight in (trained or {}).items()}
        for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
            self.register_buffer(name, published[f"embeddings.{name}.weight"], persistent=False)
        for name in ("weight", "bias"):
            self.register_buffer(f"norm_{name}", published[f"embeddings.LayerNorm.{name}"], persistent=False)
        self.layers = nn.ModuleList(_Layer(published, f"encoder.layer.{number}") for number in range(_LAYERS))
        torch.manual_seed(seed)
        self.span, self.answerable = nn.Linear(_WIDTH, 2), nn.Linear(_WIDTH, 1)
        nn.init.normal_(self.span.weight, std=0.02)
        nn.init.normal_(self.answerable.weight, std=0.02)
        if trained:
            for of_reader, head in (("span", self.span), ("answerable", self.answerable)):
                head.load_state_dict({kind: published[f"{of_reader}.{kind}"] for kind in ("weight", "bias")})

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read windows.

        Args:
            ids: int64, shape (windows, tokens).
            types: int64, 0 or 1, the same shape.
            mask: bool, the same shape; false for padding.

        Returns:
            float32: scores of tokens as the first of the answer, and as the last, shape (windows, tokens); log odds
            that the window answers, shape (windows,).
        """
        hidden = self._encode(ids, types, mask)
        scores = self.span(hidden)
        return scores[..., 0], scores[..., 1], self.answerable(hidden[:, 0])[:, 0]

    @torch.no_grad()
    def embed(self, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Compute embeddings, as the published encoder does: vectors of unit length, shape (n_texts, 384).

        Args:
            texts: The ids of the word pieces of each text.
        """
        vectors = torch.empty(len(texts), _WIDTH)
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for begin in range(0, len(order), _EMBEDDED_AT_ONCE):
            numbers = order[begin : begin + _EMBEDDED_AT_ONCE]
            ids = pad([texts[number] for number in numbers])
            mask = ids != 0
            hidden = self._encode(ids, torch.zeros_like(ids), mask)
            vectors[numbers] = F.normalize((hidden * mask[..., None]).sum(1), dim=1)
        return vectors.numpy()

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the trained weights, float32, by their names in BERT."""
        named: dict[str, Tensor] = {}
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, _Layer)  # noqa: S101 - ModuleList does not know it
            name = f"encoder.layer.{number}"
            for kind in ("weight", "bias"):
                parts = getattr(layer.projections, kind).chunk(len(_PROJECTIONS))
                for projection, part in zip(_PROJECTIONS, parts, strict=True):
                    named[f"{name}.attention.self.{projection}.{kind}"] = part
                for of_layer, linear in layer.named().items():
                    named[f"{name}.{of_layer}.{kind}"] = getattr(linear, kind)
        for of_reader, head in (("span", self.span), ("answerable", self.answerable)):
            named |= {f"{of_reader}.weight": head.weight, f"{of_reader}.bias": head.bias}
        return {name: weight.detach().numpy() for name, weight in named.items()}

    def _encode(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        places = self.position_embeddings[: ids.shape[1]] + self.token_type_embeddings[types]
        embedded = self.word_embeddings[ids] + places
        hidden = F.layer_norm(embedded, (_WIDTH,), self.norm_weight, self.norm_bias, _EPSILON).to(self.precision)
        penalty = torch.zeros(mask.shape, dtype=self.precision).masked_fill(~mask, _MASKED)[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, penalty)
        return hidden.float()


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Pad rows with zeros, which are no word piece: int64, shape (n_rows, length of the longest)."""
    length = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])


def fast_precision() -> torch.dtype:
    """Return bfloat16 if the CPU supports it, which takes a third of the time; else float32."""
    capabilities = torch.cpu.get_capabilities()
    has_bfloat16 = capabilities.get("amx_bf16") or capabilities.get("avx512_bf16")
    return torch.bfloat16 if has_bfloat16 else torch.float32
