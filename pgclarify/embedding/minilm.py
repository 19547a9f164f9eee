"""all-MiniLM-L6-v2 on ONNX Runtime: without PyTorch, and loaded in a third of a second."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import re
import struct
import threading
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.embedding.embedder import LoadedModel
from pgclarify.embedding.packaged import use_one_tokenizer_thread

# The authors' setting. The network itself has 512 positions.
_MAX_TOKENS = 256
_ERRORS = 3
# Longer texts gain nothing from company.
_BATCH_TOKENS = 128
# Each thread needs about 50 MB of its own.
_MOST_THREADS = 8
# The vectors of words, by their name in the weights and in all graphs.
_WORDS = "embeddings.word_embeddings.weight"
_SHARING = threading.Lock()
# The names of the instructions in Linux.
_INT8_FLAGS = frozenset({"avx512_vnni", "avx_vnni"})


def load_minilm(folder: Path, *, in_int8: bool = False) -> LoadedModel:
    """Load the model. Its vectors equal those of sentence-transformers, except for the last digits of float32.

    Args:
        folder: The folder of its files.
        in_int8: Compute in 8-bit integers: at most half the CPU time, and a cosine of .99 to the float32 vectors. Only
            for processors for which `multiplies_int8` is true.
    """
    tokenizer, cutting = _tokenizers(folder)
    session = open_session(folder / ("model.int8.onnx" if in_int8 else "model.onnx"))
    (embedding,) = session.get_outputs()
    return LoadedModel(
        encode=partial(_encode, session, cutting),
        tokenizer=tokenizer,
        dimensions=embedding.shape[1],
        max_tokens=_MAX_TOKENS,
        threads=threads_of_environment(),
    )


@cache
def _tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizer that counts, and the one that cuts; both precisions share them, because parsing them takes time."""
    use_one_tokenizer_thread()
    counting = Tokenizer.from_file(str(folder / "tokenizer.json"))
    counting.no_truncation()
    counting.no_padding()
    cutting = Tokenizer.from_str(counting.to_str())
    cutting.enable_truncation(_MAX_TOKENS)
    return counting, cutting


@cache
def multiplies_int8() -> bool:
    """Whether the processor has instructions for 8-bit products. Without them, it is slow at them or overflows."""
    try:
        described = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    flags = re.search(r"^flags\s*:(.*)$", described, re.MULTILINE)
    return flags is not None and not _INT8_FLAGS.isdisjoint(flags[1].split())


def open_session(graph: Path) -> Any:  # noqa: ANN401 - without types
    """Open a graph on ONNX Runtime; each run of it uses one thread."""
    # Imported here, because only workers have it.
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    # Two threads for one batch of short texts need a third more CPU time, and are not faster.
    options.intra_op_num_threads = 1
    options.log_severity_level = _ERRORS
    # Otherwise a plan for each shape of a batch is kept forever, and shapes rarely repeat.
    options.enable_mem_pattern = False
    # Otherwise each graph has these 47 MB again. They must stay mapped, also if two threads open graphs at once.
    with _SHARING:
        options.add_initializer(_WORDS, _word_vectors(graph.with_name("model.safetensors")))
    session = runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    _return_freed_memory()
    return session


@cache
def _word_vectors(weights: Path) -> Any:  # noqa: ANN401 - without types
    """Map the vectors of all words into memory, which the graphs of one folder share.

    Args:
        weights: The file of the encoder's weights.
    """
    with weights.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        tensor = json.loads(stream.read(length))[_WORDS]
        start = stream.tell() + tensor["data_offsets"][0]
    vectors = np.memmap(weights, np.float32, "r", start, tuple(tensor["shape"]))
    return importlib.import_module("onnxruntime").OrtValue.ortvalue_from_numpy(vectors)


def _return_freed_memory() -> None:
    """Return freed memory to the system: 40 MB after a graph was opened whose weights are stored in 8-bit integers.

    Only the GNU C library keeps so much, and only it has this function.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _encode(session: Any, tokenizer: Tokenizer, texts: list[str]) -> NDArray[np.float32]:  # noqa: ANN401 - without types
    # Short texts of one length cost a quarter less together. Others would need padding, which costs time and changes
    # the last digits: so a vector does not depend on the other texts.
    tokens = [tokenized.ids for tokenized in tokenizer.encode_batch(texts)]
    left = sorted(range(len(texts)), key=lambda place: len(tokens[place]))
    vectors = dict[int, NDArray[np.float32]]()
    while left:
        length = len(tokens[left[0]])
        batch = [place for place in left[: max(1, _BATCH_TOKENS // length)] if len(tokens[place]) == length]
        inputs = np.array([tokens[place] for place in batch], dtype=np.int64)
        (embedded,) = session.run(None, {"input_ids": inputs, "attention_mask": np.ones_like(inputs)})
        vectors |= zip(batch, embedded, strict=True)
        left = left[len(batch) :]
    return np.array([vectors[place] for place in range(len(texts))], dtype=np.float32)


def threads_of_environment() -> int:
    """Return OMP_NUM_THREADS, which PyTorch follows too, else the number of cores, at most 8."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(threads)) if threads.isdecimal() else min(os.cpu_count() or 1, _MOST_THREADS)
