"""Comparisons of answers: only the replies true and false are accepted."""

import json

import pytest

from pgclarify.prompts.entailment import entailment
from tests.unit.prompts.asking import said

QUESTION = "When did the bridge open?"
READ = entailment(QUESTION, "in May 1902", "1902").read


@pytest.mark.parametrize("value", [True, False])
def test_a_judgement_is_read(value: bool):
    assert READ(said(json.dumps({"entails": value}))) is value
