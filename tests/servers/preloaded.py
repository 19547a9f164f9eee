"""Imports and caches that a worker needs for its first passage. The forkserver loads them once for all workers."""

import gc
import importlib

from pgclarify.embedding import load_embedder

for name in (
    "httpcore2",
    "pgclarify.cli.main",
    "pgclarify.cli.rendering",
    "pgclarify.cli.server",
    "pgclarify.providers.endpoint",
    "pgclarify.worker.serving",
    "sentence_transformers",
    "transformers.models.bert.modeling_bert",
):
    importlib.import_module(name)
load_embedder("all-MiniLM-L6-v2").close()
# A garbage collection would visit half a million objects, and copy their memory into each forked process.
gc.freeze()
