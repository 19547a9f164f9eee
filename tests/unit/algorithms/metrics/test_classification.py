"""Yes-or-no judgements, as scikit-learn measures them."""

from __future__ import annotations

import numpy as np
import pytest

from pgclarify.algorithms.metrics import f1s_of_labels


def test_f1_is_that_of_scikit_learn() -> None:
    # Not at the top, because each process that collects tests would import it.
    from sklearn.metrics import f1_score

    chance = np.random.default_rng(1)
    labels, called = chance.random((20, 30)) < 0.4, chance.random((20, 30)) < 0.5
    expected = [f1_score(one, other) for one, other in zip(labels, called, strict=True)]
    assert f1s_of_labels(labels, called) == pytest.approx(expected)
    assert f1s_of_labels(np.zeros(3, dtype=bool), np.zeros(3, dtype=bool)) == 0
