"""A tiny sentence-transformers model that loads quickly, for tests that need another model, or many."""

from __future__ import annotations

import json
import shutil
from pathlib import Path


def save_small_model(folder: Path) -> str:
    """Write a model of 24 dimensions that reads 64 tokens, with random weights.

    Args:
        folder: An empty folder that exists.

    Returns:
        The path to load it by.
    """
    import torch
    from pgclarify_minilm import FOLDER
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel

    bert = folder / "bert"
    bert.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(FOLDER / name, bert)
    words = json.loads((FOLDER / "config.json").read_text())["vocab_size"]
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=words, hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=48
    )
    BertModel(config).save_pretrained(bert)
    reader = modules.Transformer(str(bert), max_seq_length=64)
    SentenceTransformer(
        modules=[reader, modules.Pooling(reader.get_embedding_dimension()), modules.Normalize()], device="cpu"
    ).save(str(folder / "small"))
    return str(folder / "small")
