"""What a worker imports and works out until it has embedded its first passage; the forkserver does it once for all."""

import importlib

from pgclarify.embedding import load_embedder

for name in (
    "pgclarify.cli.main",
    "pgclarify.cli.rendering",
    "pgclarify.providers.chat_model",
    "pgclarify.worker",
    "procrastinate.builtin_tasks",
    "sentence_transformers",
    "transformers.models.bert.modeling_bert",
):
    importlib.import_module(name)
load_embedder("all-MiniLM-L6-v2").close()
