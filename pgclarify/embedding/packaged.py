"""The model all-MiniLM-L6-v2 in the package pgclarify-minilm."""

from __future__ import annotations

import hashlib
import importlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pgclarify.errors import EmbeddingError

PACKAGED = "all-MiniLM-L6-v2"
_NAMES = frozenset({PACKAGED, f"sentence-transformers/{PACKAGED}"})
# The model has its published weights, and the trained reader has ours. The graphs for ONNX Runtime are written when the
# package is built.
_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "model.int8.safetensors": "e7c9199414eb846e5c21bfe9bcefee2b3200f608d7946a8363f31f013460a3ad",
    "model.int8.onnx": "331ca8c464e601d0708aa8470d27846d8a90006d4eda9637d1f355361538cbbb",
    "model.onnx": "5bf0a888b5b83484b9f1afe77dda5bde4d1d091a61a1b2df8e9572f2e38ef61e",
    "reader.safetensors": "2aaf422f18d7ecec67f58ebcbfd2f0a4328afe93e222cbedc80de1360b6b2e19",
    "reader.int8.onnx": "ad3555dc094ba9a7d252ed4c3a6b2a953e354931876dc790e7f1661994afa269",
    "reader.onnx": "4924c32b3345c9115b63d3be79d5995d6b989e2602f9b1742d1bc67cc5d9d225",
    "sentences.safetensors": "682eac3a71dabcf38b6b32f19404b2d55df0262178077c05e14b38579c3f1ecf",
    "sentences.int8.onnx": "76482efb3c18575570e95f4a99133074cab8788df7aa5d211b17154666062a0f",
    "sentences.onnx": "d46935c21dcbf4dbc6fc4ec2dabce1436542e71147d6c02c0837814433e3dc08",
}


def is_packaged(name: str) -> bool:
    """Whether a model of this name is installed, with the libraries that run it without PyTorch."""
    return name in _NAMES and all(find_spec(each) for each in ("onnxruntime", "pgclarify_minilm"))


@cache
def packaged_model(name: str) -> Path | None:
    """Return the folder of a model's files, for both libraries; None if the package does not have the model.

    The files are read and verified once in a process, because that takes as long as loading one of the models.

    Raises:
        EmbeddingError: If a file is not the expected one.
    """
    if name not in _NAMES:
        return None
    try:
        folder: Path = importlib.import_module("pgclarify_minilm").FOLDER
    except ImportError:
        return None
    for file, expected in _SHA256.items():
        verify_sha256(folder / file, expected)
    return folder


def verify_sha256(path: Path, expected: str) -> None:
    """Check that a file is the expected one.

    Raises:
        EmbeddingError: If it is another file, or is missing.
    """
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingError(
            "the packaged embedding model cannot be read",
            detail=f"{error}.",
            hint="Install the package pgclarify-minilm again; versions before 1.8 have other files.",
        ) from error
    if found != expected:
        raise EmbeddingError(
            "the packaged embedding model is not the published one",
            detail=f"The SHA-256 of {path} is {found}; the published one has {expected}.",
            hint="Install the package pgclarify-minilm again.",
        )


def use_one_tokenizer_thread() -> None:
    """Keep tokenizers from starting threads, which are unnecessary and warn when the process forks."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
