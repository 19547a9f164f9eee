"""The trained file: what is in it, and how it is checked."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.features import alone, within
from pgclarify.algorithms.ambiguity.grams import BUCKETS
from pgclarify.algorithms.ambiguity.judgement import AmbiguityKind
from pgclarify.algorithms.ambiguity.wording import take_apart
from pgclarify.errors import ConfigurationError

DIMENSIONS: Final = 384
# With history: of the question, of the last turns, and of both together.
TEXTS: Final = 3
_LARGEST: Final = 127
_BARE: Final = take_apart("", [])
ALONE: Final = tuple(alone(_BARE))
WITHIN: Final = ALONE + tuple(within(_BARE))


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights of features, of vectors and of pieces of text.

    Attributes:
        features: float32, shape (n_features,); for features of mean 0 and deviation 1.
        vectors: float32, shape (n_texts * DIMENSIONS,).
        grams: float32, shape (BUCKETS,).
        bias: float32, shape (1,).
    """

    features: NDArray[np.float32]
    vectors: NDArray[np.float32]
    grams: NDArray[np.float32]
    bias: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Trained:
    """All that was learned. Everything is float32.

    Attributes:
        mean: Of the features with history, shape (len(WITHIN),).
        deviation: Of the same, shape (len(WITHIN),).
        examples: What a question alone is compared with: its vector, and its features times feature_weight, shape
            (n_examples, DIMENSIONS + len(ALONE)).
        example_weights: Shape (n_examples,).
        kernel: The width of the comparison, the weight of features in it, its bias, shape (3,).
        alone: For a question alone.
        within: For a question with turns before it.
        kinds: For each kind, in the order of AmbiguityKind: weights of the vector of the question, of its features,
            of whether there are turns, and a bias, shape (3, DIMENSIONS + len(ALONE) + 2).
        blend: What comparison and weights count for together, shape (2,).
        calibration: Slope and intercept of the log odds, for a question alone and with history, shape (2, 2).
    """

    mean: NDArray[np.float32]
    deviation: NDArray[np.float32]
    examples: NDArray[np.float32]
    example_weights: NDArray[np.float32]
    kernel: NDArray[np.float32]
    alone: Linear
    within: Linear
    kinds: NDArray[np.float32]
    blend: NDArray[np.float32]
    calibration: NDArray[np.float32]


def pack(trained: Trained) -> bytes:
    """Write what was learned as an npz archive, small and always the same bytes.

    Examples become whole numbers, a byte each; other large arrays have half precision.
    """
    arrays: dict[str, NDArray[Any]] = {"features": np.array("\n".join(WITHIN))}
    for name, array in _arrays(trained).items():
        arrays[name] = array.astype(np.float16 if array.size > len(WITHIN) else np.float32)
    steps = np.maximum(np.abs(trained.examples).max(axis=0), 1e-6) / _LARGEST
    arrays |= {"examples": np.round(trained.examples / steps).astype(np.int8), "example_steps": steps}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            # Without the time of day that numpy's own savez would write.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def unpack(content: bytes) -> Trained:
    """Read what `pack` wrote.

    Raises:
        ConfigurationError: If it is no such archive, or arrays are missing, have another shape or are not finite, or
            it was trained for other features than this version counts.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise _broken("It is not an npz archive of plain arrays.") from error
    if str(arrays.pop("features", "")) != "\n".join(WITHIN):
        raise _broken("It was trained for other features than this version counts.")
    count = len(arrays.get("example_weights", ()))
    shapes = {
        "mean": (len(WITHIN),),
        "deviation": (len(WITHIN),),
        "examples": (count, DIMENSIONS + len(ALONE)),
        "example_steps": (DIMENSIONS + len(ALONE),),
        "example_weights": (count,),
        "kernel": (3,),
        **_linear_shapes("alone", len(ALONE), 1),
        **_linear_shapes("within", len(WITHIN), TEXTS),
        "kinds": (len(AmbiguityKind), DIMENSIONS + len(ALONE) + 2),
        "blend": (2,),
        "calibration": (2, 2),
    }
    if arrays.keys() != shapes.keys():
        raise _broken(f"Missing or unknown: {', '.join(sorted(arrays.keys() ^ shapes.keys()))}.")
    for name, shape in shapes.items():
        array = arrays[name]
        if array.shape != shape or array.dtype.kind not in "fi" or not np.isfinite(array).all():
            raise _broken(f"{name} should be {shape}, and finite; it is {array.shape} of {array.dtype}.")
        arrays[name] = array.astype(np.float32)
    arrays["examples"] *= arrays.pop("example_steps")
    if not (arrays["deviation"] > 0).all():
        raise _broken("A deviation is not positive.")
    linear = {
        part: Linear(**{field.name: arrays.pop(f"{part}_{field.name}") for field in fields(Linear)})
        for part in ("alone", "within")
    }
    return Trained(**arrays, alone=linear["alone"], within=linear["within"])


def _arrays(trained: Trained) -> dict[str, NDArray[np.float32]]:
    arrays: dict[str, NDArray[np.float32]] = {}
    for field in fields(Trained):
        value = getattr(trained, field.name)
        if isinstance(value, Linear):
            arrays |= {f"{field.name}_{part.name}": getattr(value, part.name) for part in fields(Linear)}
        else:
            arrays[field.name] = value
    return arrays


def _linear_shapes(part: str, features: int, texts: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{part}_features": (features,),
        f"{part}_vectors": (texts * DIMENSIONS,),
        f"{part}_grams": (BUCKETS,),
        f"{part}_bias": (1,),
    }


def _broken(detail: str) -> ConfigurationError:
    return ConfigurationError(
        "the trained file of the ambiguity classifier cannot be used",
        detail=detail,
        hint="Install pgclarify again, or train it with training/train_ambiguity_classifier.py.",
    )
