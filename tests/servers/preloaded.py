"""Imports, models and certificates that a worker needs for its first run. The forkserver loads them once for all."""

import gc
import importlib
from functools import cache

from pgclarify import embedding
from pgclarify.algorithms.ambiguity.classifier import AmbiguityClassifier
from pgclarify.config import Device
from pgclarify.embedding import span_reader
from pgclarify.embedding.minilm import multiplies_int8
from pgclarify.providers import transport

for name in (
    "httpcore2",
    "pgclarify.cli.main",
    "pgclarify.cli.rendering",
    "pgclarify.cli.server",
    "pgclarify.providers.batch_endpoint",
    "pgclarify.providers.endpoint",
    "pgclarify.worker.serving",
):
    importlib.import_module(name)
# A model of ONNX Runtime has no threads of its own, so forked processes can use it. Loading one takes 0.3 s.
for module, function in ((embedding, "load_minilm"), (span_reader, "open_session")):
    setattr(module, function, cache(getattr(module, function)))
for device in (Device.AUTO, Device.INT8) if multiplies_int8() else (Device.AUTO,):
    embedding.load_embedder("all-MiniLM-L6-v2", device=device).close()
reader = embedding.load_span_reader()
for network in (reader._spans, reader._sentences):
    network._open()
reader.close()
AmbiguityClassifier.load()
transport._certificates()
# A garbage collection would visit half a million objects, and copy their memory into each forked process.
gc.freeze()
