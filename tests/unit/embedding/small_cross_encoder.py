"""Tiny cross-encoders with random weights, which load quickly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the a bridge opened in 1902 1903 cheese is made of milk when did it open ?"


def save_cross_encoder(
    folder: Path, labels: Sequence[str] = (), *, dtype: str = "float32", has_head: bool = True
) -> str:
    """Write a model of 32 dimensions that reads 64 tokens.

    Args:
        folder: The folder for the model. Created if it does not exist.
        labels: Its outputs, in order. Empty for one output without a name, as in rerankers.
        dtype: Precision of its weights.
        has_head: False leaves out the output layer, as in an embedding model.

    Returns:
        The path to load it by.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

    words = _WORDS.split()
    torch.manual_seed(1)
    names = dict(enumerate(labels or ("LABEL_0",)))
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        # Only large weights give different outputs for different pairs.
        initializer_range=0.5,
        id2label=names,
        label2id={label: number for number, label in names.items()},
    )
    model = (BertForSequenceClassification if has_head else BertModel)(config)
    model.to(getattr(torch, dtype)).save_pretrained(folder)
    BertTokenizer(vocab={word: number for number, word in enumerate(words)}, model_max_length=64).save_pretrained(
        folder
    )
    return str(folder)
