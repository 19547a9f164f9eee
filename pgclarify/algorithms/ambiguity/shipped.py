"""The trained file: its content, and how it is read. `training.classifier_file` writes it."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.ambiguity.features import alone, within
from pgclarify.algorithms.ambiguity.wording import take_apart

DIMENSIONS: Final = 384
# With history: the question, the last turns, and both together.
TEXTS: Final = 3
# Vectors are projected to this many dimensions before they are compared.
PROJECTED: Final = 128
_BARE: Final = take_apart("", [])
ALONE: Final = tuple(alone(_BARE))
WITHIN: Final = ALONE + tuple(within(_BARE))


@dataclass(frozen=True, slots=True)
class Part:
    """The weights for one kind of input: questions alone, or questions with earlier turns. All float32.

    Attributes:
        features: Weights of the features, scaled to mean 0 and deviation 1; shape (n_features,).
        vectors: Weights of the vectors, shape (n_texts * DIMENSIONS,).
        grams: Weights of pieces of text, shape (BUCKETS,).
        bias: The bias of these three, shape (1,).
        examples: The examples that inputs are compared with: projected vectors, and features times the second number of
            kernel; shape (n_examples, n_texts * PROJECTED + n_features).
        example_weights: Shape (n_examples,).
        kernel: Width of the kernel, weight of the features in it, bias; shape (3,).
        blend: Weights of the support vector machine and of the logistic regression, shape (2,).
        calibration: Slope and intercept of the log odds, shape (2,).
    """

    features: NDArray[np.float32]
    vectors: NDArray[np.float32]
    grams: NDArray[np.float32]
    bias: NDArray[np.float32]
    examples: NDArray[np.float32]
    example_weights: NDArray[np.float32]
    kernel: NDArray[np.float32]
    blend: NDArray[np.float32]
    calibration: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Trained:
    """All that the classifier learned.

    Attributes:
        mean: Means of the features with history, float32, shape (len(WITHIN),).
        deviation: Their standard deviations, shape (len(WITHIN),).
        projection: Onto the directions in which vectors differ most, float32, shape (DIMENSIONS, PROJECTED).
        kinds: For each kind, in the order of AmbiguityKind: weights of the question's vector, of its features, of
            whether there are turns, and a bias; float32, shape (3, DIMENSIONS + len(ALONE) + 2).
        alone: The weights for questions alone.
        within: The weights for questions with earlier turns.
    """

    mean: NDArray[np.float32]
    deviation: NDArray[np.float32]
    projection: NDArray[np.float32]
    kinds: NDArray[np.float32]
    alone: Part
    within: Part


def project(vectors: NDArray[np.float32], projection: NDArray[np.float32]) -> NDArray[np.float32]:
    """Project each of the vectors that are concatenated in a row: float32, shape (n_rows, n_texts * PROJECTED)."""
    projected: NDArray[np.float32] = vectors.reshape(-1, DIMENSIONS) @ projection
    return projected.reshape(len(vectors), -1)


def unpack(content: bytes) -> Trained:
    """Read an archive that was written for the features that this version counts."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name].astype(np.float32) for name in archive.files if name != "names"}
    parts = []
    for kind in ("alone", "within"):
        given = {field.name: arrays.pop(f"{kind}_{field.name}") for field in fields(Part)}
        given["examples"] *= arrays.pop(f"{kind}_examples_steps")
        parts.append(Part(**given))
    alone, within = parts
    return Trained(**arrays, alone=alone, within=within)
