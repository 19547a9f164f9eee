"""Imports and caches that a worker needs for its first passage. The forkserver loads them once for all workers."""

import importlib

from pgclarify.embedding import load_embedder

for name in (
    "pgclarify.cli.main",
    "pgclarify.cli.rendering",
    "pgclarify.providers.chat_model",
    "pgclarify.worker",
    "sentence_transformers",
    "transformers.models.bert.modeling_bert",
):
    importlib.import_module(name)
load_embedder("all-MiniLM-L6-v2").close()
