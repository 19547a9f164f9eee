"""The network: the encoder of all-MiniLM-L6-v2 (BERT; Devlin et al., 2019) with one head for each token."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.reader.model import Reader

# The lowest layers read words, which is the same in both tasks; training is faster without them.
_FROZEN_LAYERS: Final = 2


class SentenceJudge(nn.Module):  # type: ignore[misc]
    """The judge of sentences before a training.

    Args:
        folder: The folder with config.json and model.safetensors of all-MiniLM-L6-v2.
        start: The weights of the trained reader, whose encoder gets a random head; or those of a judge, with its head.
    """

    def __init__(self, folder: Path, start: Mapping[str, NDArray[np.float32]]) -> None:
        super().__init__()
        self.bert = Reader(folder).bert
        weights = {name: torch.from_numpy(weight) for name, weight in start.items()}
        encoder = {name: weight for name, weight in weights.items() if name.startswith("encoder.")}
        self.bert.load_state_dict(encoder, strict=False)
        for layer in self.bert.encoder.layer[:_FROZEN_LAYERS]:
            layer.requires_grad_(False)
        self.tells = nn.Linear(self.bert.config.hidden_size, 1)
        head = {name.removeprefix("tells."): weight for name, weight in weights.items() if name.startswith("tells.")}
        self.has_trained_head = bool(head)
        if head:
            self.tells.load_state_dict(head)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Read windows, as the reader does.

        Returns:
            A logit of each token, float32, shape (windows, tokens).
        """
        hidden = self.bert(ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        logits: Tensor = self.tells(hidden)[..., 0].float()
        return logits

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the trained weights by their names in BERT."""
        trained = {name: weight for name, weight in self.bert.state_dict().items() if name.startswith("encoder.")}
        trained |= {f"tells.{kind}": weight for kind, weight in self.tells.state_dict().items()}
        return {name: weight.float().numpy() for name, weight in trained.items()}
