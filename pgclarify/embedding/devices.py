"""Devices for PyTorch models: the processor or a GPU. This import does not import torch."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pgclarify.config import Device
from pgclarify.embedding.batching import OutOfMemory
from pgclarify.errors import ConfigurationError

_Input = TypeVar("_Input")


def check_device(device: Device) -> None:
    """Check that a device of the settings exists. Looking for a GPU imports torch, which takes a second.

    Raises:
        ConfigurationError: If it does not exist.
    """
    if device not in (Device.CUDA, Device.MPS):
        return
    if find_spec("torch") is None:
        raise _missing(device, "PyTorch is not installed where the worker runs.")
    import torch

    is_there = torch.cuda.is_available() if device is Device.CUDA else torch.backends.mps.is_available()
    if not is_there:
        raise _missing(device, f"PyTorch {torch.__version__} finds none.")


def telling_out_of_memory(
    compute: Callable[[list[_Input]], NDArray[np.float32]],
) -> Callable[[list[_Input]], NDArray[np.float32]]:
    """Wrap a function so that it raises OutOfMemory if torch reports that the GPU's memory is full."""

    def computed(inputs: list[_Input]) -> NDArray[np.float32]:
        try:
            return compute(inputs)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        # Outside the handler, because the exception would keep the batch in memory.
        raise out_of_memory(f"A batch of {len(inputs)} did not fit.")

    return computed


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether an error of torch means that the GPU's memory is full."""
    import torch

    # CUDA has this class; Metal only has the words.
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "out of memory" in str(error)
    )


def out_of_memory(detail: str) -> OutOfMemory:
    """Make the error, and release the memory that torch has cached. Call it outside a handler.

    Args:
        detail: What did not fit.
    """
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return OutOfMemory(detail)


def _missing(device: Device, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the device {device} does not exist",
        detail=why,
        hint=f"Set PGCLARIFY_DEVICE={Device.CPU}, or install the driver of the GPU and a PyTorch that is made for it.",
    )
