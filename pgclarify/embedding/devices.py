"""What models of PyTorch compute on: the processor, or a GPU. Importing this does not import torch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pgclarify.config import Device
from pgclarify.embedding.batching import OutOfMemory
from pgclarify.errors import ConfigurationError

# Lowest cosine of a vector in half precision with that of float32. Models that are made for it reach 0.9999; where a
# number inside of a model is too large for 16 bits, it is far less, or none.
_LEAST_SIMILARITY = 0.999
_PROBES = [
    "rental cars",
    "Tolls are charged to the renter with an administrative fee of six dollars for each day of use.",
    "Wer haftet für Schäden am Mietwagen? 2026-05-01, § 7 (3) b, https://example.com/a?b=c" * 4,
]

_Input = TypeVar("_Input")


def check_device(device: Device) -> None:
    """Check that what a setting names is there; a GPU takes torch to be looked for, which takes a second.

    Raises:
        ConfigurationError: If it is not.
    """
    if device in (Device.CUDA, Device.MPS):
        describe_device(device)


def describe_device(device: Device) -> str:
    """Name what models compute on.

    Raises:
        ConfigurationError: If it is not there.
    """
    if find_spec("torch") is None:
        if device in (Device.AUTO, Device.CPU):
            return "the processor; PyTorch, which a GPU takes, is not installed"
        raise _missing(device, "PyTorch is not installed where the worker runs.")
    import torch

    if device in (Device.AUTO, Device.CUDA) and torch.cuda.is_available():
        return f"{Device.CUDA}: {torch.cuda.get_device_name()}"
    if device in (Device.AUTO, Device.MPS) and torch.backends.mps.is_available():
        return str(Device.MPS)
    if device in (Device.AUTO, Device.CPU):
        return "the processor"
    raise _missing(device, f"PyTorch {torch.__version__} finds none.")


def telling_out_of_memory(
    compute: Callable[[list[_Input]], NDArray[np.float32]],
) -> Callable[[list[_Input]], NDArray[np.float32]]:
    """Make a function that raises OutOfMemory where torch says in its own ways that a GPU has no room for a batch."""

    def computed(inputs: list[_Input]) -> NDArray[np.float32]:
        try:
            return compute(inputs)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        # Outside of the handler, which holds on to what the batch has taken.
        raise out_of_memory(f"It had no room for a batch of {len(inputs)}.")

    return computed


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether an error of torch says that a GPU has no room."""
    import torch

    # The class is CUDA's; Metal has the words alone.
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "out of memory" in str(error)
    )


def out_of_memory(detail: str) -> OutOfMemory:
    """Make the error, and give back to the GPU what torch keeps of what was freed. Call it outside of a handler.

    Args:
        detail: What had no room.
    """
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return OutOfMemory(detail)


def in_half_precision(
    model: Any,  # noqa: ANN401 - the library's class, which is slow to import
    encode: Callable[[Any, list[str]], NDArray[np.float32]],
) -> Any:  # noqa: ANN401 - likewise
    """Give an embedding model in half precision if that changes its vectors hardly, and else the model itself.

    Also the model itself if the GPU has no room for both.

    Args:
        model: In float32, on a GPU.
        encode: Embeds texts with it: rows of unit length.
    """
    try:
        rounded = copy.deepcopy(model).half()
        similarities = (encode(model, _PROBES) * encode(rounded, _PROBES)).sum(axis=1)
    except RuntimeError as error:
        # There may be no room for both at once.
        if not is_out_of_memory(error):
            raise
        return model
    # Written so that what is not a number counts as different.
    return rounded if similarities.min() >= _LEAST_SIMILARITY else model


def _missing(device: Device, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"there is no device {device} here",
        detail=why,
        hint=f"Set PGCLARIFY_DEVICE={Device.CPU}, or install the driver of the GPU and a PyTorch that is made for it.",
    )
