"""The network: the encoder of all-MiniLM-L6-v2 (BERT; Devlin et al., 2019), a head for spans, one for answerability."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel


class Reader(nn.Module):  # type: ignore[misc]
    """The reader before training: the published encoder, and random heads.

    Token embeddings stay as published, since the package has them only once, for the embedding model and the reader.

    Args:
        folder: The folder with config.json and model.safetensors of all-MiniLM-L6-v2.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        config = BertConfig.from_json_file(folder / "config.json")
        self.bert = BertModel(config, add_pooling_layer=False)
        published = load_file(folder / "model.safetensors")
        missing, _ = self.bert.load_state_dict(
            {name: weight.float() for name, weight in published.items()}, strict=False
        )
        if missing:
            raise ValueError(f"{folder / 'model.safetensors'} lacks {', '.join(missing)}")
        self.bert.embeddings.requires_grad_(False)
        self.span, self.answerable = nn.Linear(config.hidden_size, 2), nn.Linear(config.hidden_size, 1)
        for head in (self.span, self.answerable):
            nn.init.normal_(head.weight, std=config.initializer_range)
            nn.init.zeros_(head.bias)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Read windows.

        Args:
            ids: int64, shape (windows, tokens).
            types: int64, 0 or 1, the same shape.
            mask: int64, the same shape; 0 for padding.

        Returns:
            Logits of tokens as the first and as the last of the answer, shape (windows, tokens, 2), and logits of
            answerability, shape (windows,).
        """
        hidden = self.bert(ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        return self.span(hidden), self.answerable(hidden[:, 0])[:, 0]

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the trained weights by their names in BERT."""
        trained = {name: weight for name, weight in self.bert.state_dict().items() if name.startswith("encoder.")}
        for of_reader, head in (("span", self.span), ("answerable", self.answerable)):
            trained |= {f"{of_reader}.{kind}": weight for kind, weight in head.state_dict().items()}
        return {name: weight.float().cpu().numpy() for name, weight in trained.items()}
